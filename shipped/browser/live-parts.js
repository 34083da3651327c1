/**
 * Replaces the content of a live part with what the server sends, and keeps what the reader has opened,
 * closed, and focused. Hidden tabs do not listen, because browsers open only six connections to a server.
 * If the connection breaks for longer than a reconnection takes, the page says so.
 *
 * @param {HTMLElement} part
 */
function keepLive(part) {
  const status = part.previousElementSibling;
  /** @type {EventSource | undefined} */
  let events;
  let isFinal = false;
  /** @type {number | undefined} */
  let lostTimer;
  /** @type {number | undefined} */
  let retryTimer;
  let retryMs = 1_000;

  /** @param {string} text */
  const say = (text) => {
    if (status && status.textContent !== text) status.textContent = text;
  };
  const sayConnected = () => {
    clearTimeout(lostTimer);
    lostTimer = undefined;
    retryMs = 1_000;
    say('');
  };
  const sayLost = () => {
    lostTimer ??= setTimeout(() => say('Connection lost. Reconnecting…'), 2_000);
    // Browsers do not repeat requests that got an error as a response.
    if (events?.readyState !== EventSource.CLOSED) return;
    retryTimer = setTimeout(listen, retryMs);
    retryMs = Math.min(2 * retryMs, 60_000);
  };
  const listen = () => {
    events?.close();
    clearTimeout(retryTimer);
    if (isFinal || document.hidden) return;
    events = new EventSource(part.dataset['live'] ?? '');
    events.addEventListener('open', sayConnected);
    events.addEventListener('error', sayLost);
    events.addEventListener('message', ({ data }) => replaceContent(part, String(data)));
    events.addEventListener('final', ({ data }) => {
      isFinal = true;
      replaceContent(part, String(data));
      events?.close();
    });
  };
  document.addEventListener('visibilitychange', listen);
  listen();
}

/**
 * @param {HTMLElement} part
 * @param {string} json
 */
function replaceContent(part, json) {
  const states = findAll(part, 'details[id]', HTMLDetailsElement).map(({ id, open }) => ({
    id,
    open,
  }));
  const { activeElement: active } = document;
  const focused = active && part.contains(active) ? active.id : '';
  part.innerHTML = String(JSON.parse(json));
  labelTables(part);
  for (const { id, open } of states) document.getElementById(id)?.toggleAttribute('open', open);
  if (focused !== '') document.getElementById(focused)?.focus();
}

for (const part of findAll(document, '[data-live]', HTMLElement)) keepLive(part);
