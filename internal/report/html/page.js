// What every page can do: choose light or dark, copy commands, open what is closed
// before it is printed, and put the static pictures on paper.
(() => {
  'use strict';
  const root = document.documentElement;
  const said = document.getElementById('said');
  for (const e of document.querySelectorAll('.scripted')) e.hidden = false;

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const theme = document.getElementById('theme');
  const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : dark.matches;
  const paint = () => {
    theme.textContent = isDark() ? theme.dataset.light : theme.dataset.dark;
    document.dispatchEvent(new Event('nativ-theme'));
  };
  theme.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    paint();
  });
  dark.addEventListener('change', paint);
  paint();

  const copied = (button) => {
    said.textContent = button.dataset.done;
    const before = button.textContent;
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = before; said.textContent = ''; }, 1500);
  };
  for (const button of document.querySelectorAll('.copy')) {
    button.addEventListener('click', () => {
      const code = button.parentElement.querySelector('code');
      // The clipboard is closed to pages opened as files in some browsers.
      const select = () => {
        getSelection().selectAllChildren(code);
        if (document.execCommand('copy')) copied(button);
      };
      if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(() => copied(button), select);
      else select();
    });
  }

  // Pictures are read only where somebody prints: until then they are text.
  const print = () => {
    for (const n of document.querySelectorAll('figure.chart noscript')) {
      const to = n.previousElementSibling;
      if (to && to.className === 'static' && !to.firstChild) to.innerHTML = n.textContent;
    }
    for (const d of document.querySelectorAll('details.fold')) {
      if (!d.open) { d.open = true; d.dataset.printed = ''; }
    }
  };
  const printed = () => {
    for (const d of document.querySelectorAll('details[data-printed]')) {
      d.open = false;
      delete d.dataset.printed;
    }
  };
  addEventListener('beforeprint', print);
  addEventListener('afterprint', printed);
  const paper = matchMedia('print');
  paper.addEventListener('change', (e) => e.matches ? print() : printed());
  if (paper.matches) print();
})();
