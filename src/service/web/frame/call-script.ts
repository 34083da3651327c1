/**
 * Places a call from the page of an agent, with the WebRTC of the browser. The service passes the
 * messages on and adds the key; the audio flows between the browser and the agent. Levels and
 * latencies are measured every 50 ms on both sides of the call.
 */
export const CALL_SCRIPT = `
for (const part of document.querySelectorAll('[data-call]')) {
  const find = (name) => part.querySelector('[data-part="' + name + '"]');
  const [status, call, hangUp, lanes, turns] = ['status', 'call', 'hang-up', 'lanes', 'turns'].map(find);
  const table = turns.querySelector('table');
  const [score, kept, user, frame, unfit] =
    ['score', 'conversation', 'user', 'lanes-frame', 'unfit'].map(find);
  const STEP_MS = 50;
  const SPEECH_DB = -45;
  const SPEECH_STEPS = 3;
  const SILENT_STEPS = 6;
  let current;

  const say = (text) => { status.textContent = text; };
  const waitFor = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

  const watch = (context, stream) => {
    const analyser = context.createAnalyser();
    analyser.fftSize = 2048;
    context.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    const lane = { loud: 0, silent: 0, isSpeaking: false, startedMs: undefined, loudMs: undefined };
    lane.step = (nowMs) => {
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
      lane.db = 10 * Math.log10(power + 1e-10);
      const isLoud = lane.db > SPEECH_DB;
      lane.loud = isLoud ? lane.loud + 1 : 0;
      lane.silent = isLoud ? 0 : lane.silent + 1;
      // A single loud step is a click.
      if (lane.loud > 1) lane.loudMs = nowMs;
      if (!lane.isSpeaking && lane.loud >= SPEECH_STEPS) {
        lane.isSpeaking = true;
        lane.startedMs = nowMs - (SPEECH_STEPS - 1) * STEP_MS;
        return 'started';
      }
      if (lane.silent >= SILENT_STEPS) lane.isSpeaking = false;
      return undefined;
    };
    return lane;
  };

  const draw = (mine, theirs) => {
    const pen = lanes.getContext('2d');
    const colors = getComputedStyle(lanes);
    const half = lanes.height / 2;
    pen.globalCompositeOperation = 'copy';
    pen.drawImage(lanes, -2, 0);
    pen.globalCompositeOperation = 'source-over';
    for (const [lane, top, color] of [[mine, 0, '--note'], [theirs, half, '--good']]) {
      const height = Math.max(1, Math.min(1, (lane.db + 60) / 60) * (half - 4));
      pen.fillStyle = colors.getPropertyValue(color);
      pen.fillRect(lanes.width - 2, top + half - 2 - height, 2, height);
    }
  };

  const measure = (state) => {
    const nowMs = performance.now();
    state.mine.step(nowMs);
    if (!state.theirs) return;
    const started = state.theirs.step(nowMs) === 'started';
    draw(state.mine, state.theirs);
    const { loudMs, silent } = state.mine;
    // Who speaks while the other speaks does not reply.
    if (!started || loudMs === undefined || silent < SPEECH_STEPS || state.repliedTo === loudMs) return;
    state.repliedTo = loudMs;
    state.latencyMs = Math.max(0, Math.round((state.theirs.startedMs - loudMs) / STEP_MS) * STEP_MS);
    say('In the call. The response latency was ' + state.latencyMs + ' ms.');
    const last = state.turns.at(-1);
    if (last && last.latencyMs === undefined && state.untimed > 0) setLatency(state, last);
  };

  const setLatency = (state, turn) => {
    turn.latencyMs = state.latencyMs;
    state.latencyMs = undefined;
    state.untimed = 0;
    turn.row.querySelector('td:last-child').textContent = turn.latencyMs + ' ms';
  };

  const addTurn = (state, { transcript = {}, metadata, evaluation_metadata: hints, tool_calls: tools }) => {
    const isCorrection = metadata?.interrupted === true && state.turns.length > 0;
    const turn = isCorrection ? state.turns.at(-1) : { latencyMs: undefined };
    turn.userInput = String(transcript.user ?? '');
    turn.agentResponse = String(transcript.agent ?? '');
    turn.toolCalls = Array.isArray(tools) ? tools.filter((tool) => typeof tool?.name === 'string') : [];
    if (!isCorrection) {
      state.turns.push(turn);
      turn.row = table.tBodies[0].insertRow();
      for (const _heading of table.tHead.rows[0].cells) turn.row.insertCell();
      labelTables(turns);
      state.untimed += 1;
      if (state.latencyMs !== undefined) setLatency(state, turn);
    }
    turn.row.cells[0].textContent = turn.userInput;
    const isUnfit = hints?.appropriate_response === false;
    turn.row.cells[1].textContent = turn.agentResponse + (isCorrection ? ' (interrupted)' : '')
      + (isUnfit ? ' (does not fit, as the agent reports)' : '');
    if (isUnfit) unfit.hidden = false;
    turns.hidden = false;
  };

  const connect = async (state, ready) => {
    const { peer, stream } = state;
    for (const track of stream.getTracks()) peer.addTrack(track, stream);
    await peer.setRemoteDescription({ type: 'offer', sdp: ready.webrtc_offer.sdp });
    for (const candidate of state.candidates.splice(0)) await peer.addIceCandidate(candidate);
    await peer.setLocalDescription(await peer.createAnswer());
    const gathered = new Promise((resolve) => {
      peer.addEventListener('icegatheringstatechange', () => {
        if (peer.iceGatheringState === 'complete') resolve();
      });
    });
    if (peer.iceGatheringState !== 'complete') await Promise.race([gathered, waitFor(2_000)]);
    const { call_id, session_id } = ready;
    state.ids = { call_id, ...(session_id !== undefined && { session_id }) };
    const answer = { type: 'answer', sdp: peer.localDescription.sdp };
    state.send({ type: 'webrtc_answer', ...state.ids, webrtc_answer: answer });
    say('Connecting the audio…');
  };

  const receive = async (state, message) => {
    if (message.type === 'call_ready') {
      if (typeof message.webrtc_offer?.sdp !== 'string') state.end('call_ready has no SDP offer.');
      else await connect(state, message);
    }
    if (message.type === 'ice_candidate') {
      const { candidate } = message;
      const line = typeof candidate === 'string' ? { candidate, sdpMLineIndex: 0 } : candidate;
      if (state.peer.remoteDescription) await state.peer.addIceCandidate(line);
      else state.candidates.push(line);
    }
    if (message.type === 'conversation_update') addTurn(state, message);
    if (message.type === 'error') {
      state.problem = 'The agent sent an error: ' +
        [message.error?.code, message.error?.message].filter(Boolean).join(' ').slice(0, 300);
      say(state.problem);
    }
  };

  const start = (stream) => {
    const sessionId = 'playground-' + crypto.randomUUID();
    const context = new AudioContext();
    const peer = new RTCPeerConnection();
    const url = new URL(part.dataset.call, location.href.replace(/^http/, 'ws'));
    const socket = new WebSocket(url, ['sandbox-kit-page', part.dataset.token]);
    const state = { stream, peer, turns: [], untimed: 0, candidates: [], ids: {} };
    state.mine = watch(context, stream);
    const timer = setInterval(() => measure(state), STEP_MS);
    const sound = new Audio();
    state.send = (message) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
    };
    state.end = (text) => {
      if (current !== state) return;
      current = undefined;
      clearInterval(timer);
      state.send({ type: 'end_call', ...state.ids });
      socket.close();
      peer.close();
      sound.srcObject = null;
      for (const track of stream.getTracks()) track.stop();
      void context.close();
      [call.hidden, hangUp.hidden] = [false, true];
      say(text);
      kept.value = JSON.stringify({
        sessionId,
        userId: user.value.trim(),
        turns: state.turns.map(({ row, ...turn }) => turn),
      });
      score.hidden = state.turns.length === 0;
    };
    peer.addEventListener('track', ({ track }) => {
      const remote = new MediaStream([track]);
      sound.srcObject = remote;
      void sound.play();
      state.theirs = watch(context, remote);
    });
    peer.addEventListener('connectionstatechange', () => {
      if (peer.connectionState === 'connected') say('In the call. Speak to the agent.');
      if (peer.connectionState === 'failed') {
        state.end('The browser found no way for the audio. The address in the offer of the agent must ' +
          'be reachable from this browser.');
      }
    });
    socket.addEventListener('open', () => {
      say('Calling the agent…');
      state.send({
        type: 'start_call',
        session_id: sessionId,
        ...(user.value.trim() && { user_id: user.value.trim() }),
        metadata: { audio_config: { codec: 'opus', sampleRate: 48000 } },
      });
    });
    let received = Promise.resolve();
    socket.addEventListener('message', ({ data }) => {
      received = received.then(() => receive(state, JSON.parse(data)))
        .catch((error) => state.end('The call failed: ' + error.message));
    });
    socket.addEventListener('close', ({ code, reason }) => {
      state.end(state.problem ?? (reason ||
        (code === 1006 ? 'The service refused the call. Reload the page and call again.' :
          'The call has ended.')));
    });
    return state;
  };

  call.addEventListener('click', async () => {
    if (current) return;
    table.tBodies[0].replaceChildren();
    [turns.hidden, score.hidden, unfit.hidden, frame.hidden] = [true, true, true, false];
    lanes.getContext('2d').clearRect(0, 0, lanes.width, lanes.height);
    say('Asking for the microphone…');
    try {
      if (!navigator.mediaDevices) throw new Error('the page must be open on localhost or over HTTPS');
      const audio = { echoCancellation: true, noiseSuppression: true };
      const stream = await navigator.mediaDevices.getUserMedia({ audio });
      [call.hidden, hangUp.hidden] = [true, false];
      hangUp.focus();
      current = start(stream);
    } catch (error) {
      say('The browser gave no microphone: ' + error.message + '. Allow it, then call again.');
    }
  });
  hangUp.addEventListener('click', () => {
    current?.end('You have hung up.');
    call.focus();
  });
}
`;
