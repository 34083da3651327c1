/**
 * A call from the page of an agent, with the WebRTC of the browser. The service passes the messages on and
 * adds the key; the audio flows between the browser and the agent.
 */
class BrowserCall {
  #view;
  #stream;
  #onEnd;
  #sessionId = `playground-${crypto.randomUUID()}`;
  #context = new AudioContext();
  #peer = new RTCPeerConnection();
  #socket;
  #sound = new Audio();
  #timer;
  #mine;
  /** @type {Lane | undefined} */
  #theirs;
  /** @type {CallTurn[]} */
  #turns = [];
  /** How many turns have come since the last latency. */
  #untimed = 0;
  /** @type {number | undefined} A latency whose turn has not come yet. */
  #latencyMs;
  /** @type {number | undefined} When the person was loud last before the last reply. */
  #repliedToMs;
  /** @type {RTCIceCandidateInit[]} Candidates that came before the offer. */
  #candidates = [];
  /** The ids that the agent has given to the call. */
  #ids = {};
  /** @type {string | undefined} The last error that the agent sent. */
  #problem;
  #isOver = false;

  /**
   * @param {CallView} view
   * @param {MediaStream} stream The microphone.
   * @param {() => void} onEnd
   */
  constructor(view, stream, onEnd) {
    this.#view = view;
    this.#stream = stream;
    this.#onEnd = onEnd;
    this.#mine = new Lane(this.#context, stream);
    this.#timer = setInterval(() => this.#measure(), STEP_MS);
    this.#watchPeer();
    const url = new URL(view.url, location.href.replace(/^http/, 'ws'));
    this.#socket = new WebSocket(url, ['sandbox-kit-page', view.token]);
    this.#watchSocket();
  }

  /**
   * Ends the call, and says why.
   *
   * @param {string} text
   */
  end(text) {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#timer);
    this.#send({ type: 'end_call', ...this.#ids });
    this.#socket.close();
    this.#peer.close();
    this.#sound.srcObject = null;
    for (const track of this.#stream.getTracks()) track.stop();
    void this.#context.close();
    this.#onEnd();
    this.#say(text);
    const { conversation, score, user } = this.#view;
    conversation.value = JSON.stringify({
      sessionId: this.#sessionId,
      userId: user.value.trim(),
      turns: this.#turns.map(({ row, ...turn }) => turn),
    });
    score.hidden = this.#turns.length === 0;
  }

  #watchPeer() {
    this.#peer.addEventListener('track', ({ track }) => {
      const remote = new MediaStream([track]);
      this.#sound.srcObject = remote;
      void this.#sound.play();
      this.#theirs = new Lane(this.#context, remote);
    });
    this.#peer.addEventListener('connectionstatechange', () => {
      const { connectionState: state } = this.#peer;
      if (state === 'connected') this.#say('In the call. Speak to the agent.');
      if (state === 'failed') {
        this.end(
          'The browser found no way for the audio. The address in the offer of the agent must be ' +
            'reachable from this browser.',
        );
      }
    });
  }

  #watchSocket() {
    this.#socket.addEventListener('open', () => {
      this.#say('Calling the agent…');
      const userId = this.#view.user.value.trim();
      this.#send({
        type: 'start_call',
        session_id: this.#sessionId,
        ...(userId !== '' && { user_id: userId }),
        metadata: { audio_config: { codec: 'opus', sampleRate: 48_000 } },
      });
    });
    let received = Promise.resolve();
    this.#socket.addEventListener('message', ({ data }) => {
      received = received
        .then(() => this.#receive(JSON.parse(String(data))))
        .catch((/** @type {unknown} */ error) => this.end(`The call failed: ${messageOf(error)}`));
    });
    this.#socket.addEventListener('close', ({ code, reason }) => {
      const refused = 'The service refused the call. Reload the page and call again.';
      const ended = code === 1006 ? refused : 'The call has ended.';
      this.end(this.#problem ?? (reason === '' ? ended : reason));
    });
  }

  /** @param {object} message */
  #send(message) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  /** @param {unknown} message */
  async #receive(message) {
    if (!isMessage(message)) return;
    const { type, webrtc_offer: offer, candidate, error } = message;
    if (type === 'call_ready') {
      if (typeof offer?.sdp === 'string') await this.#connect(message, offer.sdp);
      else this.end('call_ready has no SDP offer.');
    }
    if (type === 'ice_candidate' && candidate !== undefined) {
      const line = typeof candidate === 'string' ? { candidate, sdpMLineIndex: 0 } : candidate;
      if (this.#peer.remoteDescription) await this.#peer.addIceCandidate(line);
      else this.#candidates.push(line);
    }
    if (type === 'conversation_update') this.#addUpdate(message);
    if (type === 'error') {
      const details = [error?.code, error?.message].filter(Boolean).join(' ').slice(0, 300);
      this.#problem = `The agent sent an error: ${details}`;
      this.#say(this.#problem);
    }
  }

  /**
   * @param {AgentMessage} ready
   * @param {string} sdp
   */
  async #connect({ call_id, session_id }, sdp) {
    const peer = this.#peer;
    for (const track of this.#stream.getTracks()) peer.addTrack(track, this.#stream);
    await peer.setRemoteDescription({ type: 'offer', sdp });
    for (const candidate of this.#candidates.splice(0)) await peer.addIceCandidate(candidate);
    await peer.setLocalDescription(await peer.createAnswer());
    await waitForCandidates(peer);
    this.#ids = { call_id, ...(session_id !== undefined && { session_id }) };
    const answer = { type: 'answer', sdp: peer.localDescription?.sdp };
    this.#send({ type: 'webrtc_answer', ...this.#ids, webrtc_answer: answer });
    this.#say('Connecting the audio…');
  }

  #measure() {
    const nowMs = performance.now();
    this.#mine.measure(nowMs);
    if (!this.#theirs) return;
    const hasStarted = this.#theirs.measure(nowMs);
    drawLevels(this.#view.lanes, this.#mine, this.#theirs);
    const { loudMs, silentSteps } = this.#mine;
    // Speech that overlaps the other side is not a reply.
    if (!hasStarted || loudMs === undefined || silentSteps < SPEECH_STEPS) return;
    if (this.#repliedToMs === loudMs) return;
    this.#repliedToMs = loudMs;
    const steps = Math.max(0, Math.round((this.#theirs.startedMs - loudMs) / STEP_MS));
    this.#latencyMs = steps * STEP_MS;
    this.#say(`In the call. The response latency was ${this.#latencyMs} ms.`);
    const last = this.#turns.at(-1);
    if (last && last.latencyMs === undefined && this.#untimed > 0) this.#setLatency(last);
  }

  /** @param {CallTurn} turn */
  #setLatency(turn) {
    turn.latencyMs = this.#latencyMs;
    this.#latencyMs = undefined;
    this.#untimed = 0;
    findElement(turn.row, 'td:last-child', HTMLElement).textContent = `${turn.latencyMs} ms`;
  }

  /** @param {AgentMessage} update */
  #addUpdate({ transcript, metadata, evaluation_metadata: hints, tool_calls: tools }) {
    const last = metadata?.interrupted === true ? this.#turns.at(-1) : undefined;
    const turn = last ?? this.#addTurn();
    turn.userInput = toText(transcript?.user);
    turn.agentResponse = toText(transcript?.agent);
    turn.toolCalls = Array.isArray(tools) ? tools.filter(isNamed) : [];
    const isUnfit = hints?.appropriate_response === false;
    const remarks = [
      ...(last ? [' (interrupted)'] : []),
      ...(isUnfit ? [' (does not fit, as the agent reports)'] : []),
    ];
    const [userCell, agentCell] = turn.row.cells;
    if (userCell) userCell.textContent = turn.userInput;
    if (agentCell) agentCell.textContent = [turn.agentResponse, ...remarks].join('');
    if (isUnfit) this.#view.unfit.hidden = false;
    this.#view.turns.hidden = false;
  }

  #addTurn() {
    const { turns, rows, headings } = this.#view;
    const row = rows.insertRow();
    for (let added = 0; added < headings; added++) row.insertCell();
    labelTables(turns);
    /** @type {CallTurn} */
    const turn = { latencyMs: undefined, userInput: '', agentResponse: '', toolCalls: [], row };
    this.#turns.push(turn);
    this.#untimed += 1;
    if (this.#latencyMs !== undefined) this.#setLatency(turn);
    return turn;
  }

  /** @param {string} text */
  #say(text) {
    this.#view.status.textContent = text;
  }
}

/** @param {unknown} error */
const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/** @type {(value: unknown) => value is AgentMessage} */
const isMessage = (value) => typeof value === 'object' && value !== null;

/** @param {unknown} tool */
const isNamed = (tool) =>
  typeof tool === 'object' && tool !== null && 'name' in tool && typeof tool.name === 'string';

/** @param {unknown} value */
function toText(value) {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * Waits until a peer knows its addresses, for at most 2 s.
 *
 * @param {RTCPeerConnection} peer
 */
async function waitForCandidates(peer) {
  if (peer.iceGatheringState === 'complete') return;
  await new Promise((resolve) => {
    setTimeout(resolve, 2_000);
    peer.addEventListener('icegatheringstatechange', () => {
      if (peer.iceGatheringState === 'complete') resolve(undefined);
    });
  });
}
