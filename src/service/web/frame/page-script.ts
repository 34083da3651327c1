import { TABLE_SCRIPT } from '../../../report-kit/table.ts';
import { TIMELINE_SCRIPT } from '../../../report-kit/waveform.ts';
import { CALL_SCRIPT } from './call-script.ts';

/**
 * Replaces the content of each live part with what the server sends, and keeps what the reader has
 * opened, closed, and focused. Hidden tabs do not listen, because browsers open only six connections to
 * a server. If the connection breaks for longer than a reconnection takes, the page says so.
 */
const LIVE_SCRIPT = `
for (const part of document.querySelectorAll('[data-live]')) {
  const status = part.previousElementSibling;
  let events;
  let isFinal = false;
  let lostTimer;
  let retryTimer;
  let retryMs = 1_000;
  const show = ({ data }) => {
    const states = [...part.querySelectorAll('details[id]')].map(({ id, open }) => [id, open]);
    const focused = part.contains(document.activeElement) ? document.activeElement.id : '';
    part.innerHTML = JSON.parse(data);
    labelTables(part);
    for (const [id, open] of states) document.getElementById(id)?.toggleAttribute('open', open);
    if (focused) document.getElementById(focused)?.focus();
  };
  const sayConnected = () => {
    clearTimeout(lostTimer);
    lostTimer = undefined;
    retryMs = 1_000;
    if (status.textContent) status.textContent = '';
  };
  const sayLost = () => {
    lostTimer ??= setTimeout(() => { status.textContent = 'Connection lost. Reconnecting…'; }, 2_000);
    // Browsers do not repeat requests that got an error as a response.
    if (events.readyState !== EventSource.CLOSED) return;
    retryTimer = setTimeout(listen, retryMs);
    retryMs = Math.min(2 * retryMs, 60_000);
  };
  const listen = () => {
    events?.close();
    clearTimeout(retryTimer);
    if (isFinal || document.hidden) return;
    events = new EventSource(part.dataset.live);
    events.addEventListener('open', sayConnected);
    events.addEventListener('error', sayLost);
    events.addEventListener('message', show);
    events.addEventListener('final', (event) => {
      isFinal = true;
      show(event);
      events.close();
    });
  };
  document.addEventListener('visibilitychange', listen);
  listen();
}
`;

/**
 * Keys of the main ways, except where the reader types. `g` waits for the key of a page. Readers can turn
 * them off, because speech input and shaking hands press single keys (WCAG 2.1.4).
 */
const KEYBOARD_SCRIPT = `
const hasKeys = () => {
  // Reading fails where the browser blocks storage.
  try { return localStorage.getItem('single-keys') !== 'off'; } catch { return true; }
};
for (const box of document.querySelectorAll('[data-single-keys]')) {
  box.checked = hasKeys();
  box.parentElement.hidden = false;
  box.addEventListener('change', () => {
    localStorage.setItem('single-keys', box.checked ? 'on' : 'off');
  });
}
let goesUntil = 0;
document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey, timeStamp } = event;
  const isTyping = target instanceof Element
    && target.closest('input:not([type=checkbox]), textarea, select, dialog[open], audio, [contenteditable]');
  if (ctrlKey || metaKey || altKey || isTyping || !hasKeys()) return;
  const find = (selector) => document.querySelector(selector);
  const goes = timeStamp < goesUntil;
  goesUntil = key === 'g' ? timeStamp + 1_500 : 0;
  if (goes && /^[a-z]$/.test(key)) find('nav.site [data-key="' + key + '"]')?.click();
  else if (key === 'j') find('nav.path [rel=next]')?.click();
  else if (key === 'k') find('nav.path [rel=prev]')?.click();
  else if (key === '/') find('nav.site [type=search]')?.focus();
  else if (key === '?') find('#keyboard')?.showModal();
  else return;
  event.preventDefault();
});
`;

/** Makes Enter send the form of a message, and says so; Shift+Enter is a new line. */
const MESSAGE_SCRIPT = `
for (const box of document.querySelectorAll('[data-enter-sends]')) {
  box.form.querySelector('[data-part=enter-hint]').hidden = false;
  box.addEventListener('keydown', (event) => {
    const { key, shiftKey, isComposing, repeat } = event;
    if (key !== 'Enter' || shiftKey || isComposing) return;
    event.preventDefault();
    if (!repeat) box.form.requestSubmit();
  });
}
`;

/** The script of all pages of the service. Every page is complete without it. */
export const PAGE_SCRIPT = [
  ...[TABLE_SCRIPT, LIVE_SCRIPT, KEYBOARD_SCRIPT, MESSAGE_SCRIPT, TIMELINE_SCRIPT],
].join('');

/** The script of a page that places calls. */
export const CALL_PAGE_SCRIPT = `${PAGE_SCRIPT}${CALL_SCRIPT}`;
