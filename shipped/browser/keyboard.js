/**
 * Keyboard shortcuts, except where the reader types. After `g`, the next key selects a page. Readers can
 * turn them off, because speech input and shaking hands press single keys (WCAG 2.1.4).
 */
const hasKeys = () => {
  // Reading fails where the browser blocks storage.
  try {
    return localStorage.getItem('single-keys') !== 'off';
  } catch {
    return true;
  }
};

for (const box of findAll(document, '[data-single-keys]', HTMLInputElement)) {
  box.checked = hasKeys();
  if (box.parentElement) box.parentElement.hidden = false;
  box.addEventListener('change', () => {
    localStorage.setItem('single-keys', box.checked ? 'on' : 'off');
  });
}

const TYPED =
  'input:not([type=checkbox]), textarea, select, dialog[open], audio, [contenteditable]';
let goesUntil = 0;

document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey, timeStamp } = event;
  const isTyping = target instanceof Element && target.closest(TYPED);
  if (ctrlKey || metaKey || altKey || isTyping || !hasKeys()) return;
  /** @param {string} selector */
  const find = (selector) => findAll(document, selector, HTMLElement)[0];
  const goes = timeStamp < goesUntil;
  goesUntil = key === 'g' ? timeStamp + 1_500 : 0;
  if (goes && /^[a-z]$/.test(key)) find(`nav.site [data-key="${key}"]`)?.click();
  else if (key === 'j') find('nav.path [rel=next]')?.click();
  else if (key === 'k') find('nav.path [rel=prev]')?.click();
  else if (key === '/') find('nav.site [type=search]')?.focus();
  else if (key === '?') findAll(document, '#keyboard', HTMLDialogElement)[0]?.showModal();
  else return;
  event.preventDefault();
});
