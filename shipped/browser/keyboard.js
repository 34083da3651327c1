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

/**
 * Opens the session after or before that of the page; on any other page, focuses the link of the row after or
 * before the focused one.
 *
 * @param {'next' | 'prev'} place
 * @param {1 | -1} step
 */
function goOn(place, step) {
  const [neighbor] = findAll(document, `nav.path [rel=${place}]`, HTMLElement);
  if (neighbor) {
    neighbor.click();
    return;
  }
  const rows = findAll(document, 'tbody > tr', HTMLElement).flatMap((row) => {
    const [link] = findAll(row, 'th a', HTMLElement);
    return link?.checkVisibility() ? [{ row, link }] : [];
  });
  const at = rows.findIndex(({ row }) => row.contains(document.activeElement));
  rows[at < 0 && step < 0 ? 0 : at + step]?.link.focus();
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
  else if (key === 'j') goOn('next', 1);
  else if (key === 'k') goOn('prev', -1);
  else if (key === '/') find('nav.site [type=search]')?.focus();
  else if (key === '?') findAll(document, '#keyboard', HTMLDialogElement)[0]?.showModal();
  else return;
  event.preventDefault();
});
