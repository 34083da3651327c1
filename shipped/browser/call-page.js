/**
 * The parts of the page that show a call.
 *
 * @typedef {ReturnType<typeof findCallView>} CallView
 */

/** @param {HTMLElement} page */
function findCallView(page) {
  const turns = findElement(page, '[data-part=turns]', HTMLElement);
  return {
    url: page.dataset['call'] ?? '',
    token: page.dataset['token'] ?? '',
    status: findElement(page, '[data-part=status]', HTMLElement),
    call: findElement(page, '[data-part=call]', HTMLButtonElement),
    hangUp: findElement(page, '[data-part=hang-up]', HTMLButtonElement),
    user: findElement(page, '[data-part=user]', HTMLInputElement),
    frame: findElement(page, '[data-part=lanes-frame]', HTMLElement),
    lanes: findElement(page, '[data-part=lanes]', HTMLCanvasElement),
    unfit: findElement(page, '[data-part=unfit]', HTMLElement),
    turns,
    rows: findElement(turns, 'tbody', HTMLTableSectionElement),
    headings: findAll(turns, 'thead th', HTMLElement).length,
    score: findElement(page, '[data-part=score]', HTMLElement),
    conversation: findElement(page, '[data-part=conversation]', HTMLInputElement),
  };
}

/**
 * Places calls, one at a time.
 *
 * @param {CallView} view
 */
function placeCalls(view) {
  const { call, hangUp, frame, lanes, rows, score, status, turns, unfit } = view;
  /** @type {BrowserCall | undefined} */
  let current;
  const start = async () => {
    if (current) return;
    rows.replaceChildren();
    [turns.hidden, score.hidden, unfit.hidden, frame.hidden] = [true, true, true, false];
    lanes.getContext('2d')?.clearRect(0, 0, lanes.width, lanes.height);
    status.textContent = 'Asking for the microphone…';
    try {
      const stream = await openMicrophone();
      [call.hidden, hangUp.hidden] = [true, false];
      hangUp.focus();
      current = new BrowserCall(view, stream, () => {
        current = undefined;
        [call.hidden, hangUp.hidden] = [false, true];
      });
    } catch (error) {
      status.textContent = `The browser gave no microphone: ${messageOf(error)}. Allow it, then call again.`;
    }
  };
  call.addEventListener('click', () => void start());
  hangUp.addEventListener('click', () => {
    current?.end('You have hung up.');
    call.focus();
  });
}

async function openMicrophone() {
  // Other pages have no devices.
  if (!isSecureContext) throw new Error('the page must be open on localhost or over HTTPS');
  return navigator.mediaDevices.getUserMedia({
    audio: { echoCancellation: true, noiseSuppression: true },
  });
}

for (const page of findAll(document, '[data-call]', HTMLElement)) placeCalls(findCallView(page));
