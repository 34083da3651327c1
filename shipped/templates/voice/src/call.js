/**
 * One call: signaling over the WebSocket, media over WebRTC (spec 6). The sandbox makes the offer:
 *
 *     service  start_call ->
 *              <- call_ready with the SDP offer            sandbox
 *              webrtc_answer with the SDP answer ->
 *              <- conversation_update after each turn
 *
 * The interface does not define how the answer arrives. `webrtc_answer` is what sandbox-kit sends.
 *
 * @import { WebSocket } from 'ws'
 * @import { ChatMessage, ScenarioMetadata, StartCall } from 'sandbox-kit'
 */
import { randomUUID } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { MediaStreamTrack, RTCPeerConnection, RtpHeader, RtpPacket, useOPUS } from 'werift';
import { replyTo } from './agent.js';
import { AudioLine } from './audio-line.js';
import { recognize, synthesize } from './speech.js';

/** Time limits of the setup, until audio flows, and of the whole call. */
const SETUP_MS_MAX = 10_000;
const CALL_MS_MAX = 30 * 60_000;

/** The public address of this machine; set it if the machine is behind NAT. */
const { MEDIA_ADDRESS } = process.env;

export class Call {
  #id = `call_${randomUUID()}`;
  /** @type {string | undefined} */
  #sessionId;
  /** @type {ScenarioMetadata | undefined} */
  #metadata;
  /** @type {ChatMessage[]} */
  #messages = [];
  /** @type {RTCPeerConnection | undefined} */
  #peer;
  /** @type {AudioLine | undefined} */
  #line;
  #socket;
  #address;
  #timer;

  /**
   * @param {WebSocket} socket
   * @param {string} address The local address for media.
   */
  constructor(socket, address) {
    this.#socket = socket;
    this.#address = address;
    this.#timer = setTimeout(
      () => this.fail('connection_failed', 'The call was not set up in time.', 4408),
      SETUP_MS_MAX,
    );
    socket.on('message', (data, isBinary) => {
      this.#receive(String(data), isBinary).catch((error) => this.#handleError(error));
    });
    // The interface has no message that ends a call: a call ends when its WebSocket closes.
    socket.on('close', () => this.#release());
    socket.on('error', () => {}); // ws closes the socket after a protocol error.
  }

  /**
   * Ends the call with an error message (spec 7).
   *
   * @param {'connection_failed' | 'audio_error'} code
   * @param {string} message
   * @param {number} closeCode The interface defines no close codes.
   */
  fail(code, message, closeCode) {
    this.#send({ type: 'error', error: { code, message, details: '' } });
    this.#socket.close(closeCode);
    this.#release();
  }

  /**
   * @param {string} text
   * @param {boolean} isBinary
   */
  async #receive(text, isBinary) {
    const message = isBinary ? undefined : parseMessage(text);
    if (message === undefined) {
      return this.fail('connection_failed', 'A message must be a JSON object with a type.', 1007);
    }
    switch (message.type) {
      case 'start_call':
        return this.#start(message);
      case 'webrtc_answer':
        return this.#connect(message.webrtc_answer?.sdp ?? '');
      case 'ice_candidate':
        return this.#peer?.addIceCandidate(message.candidate);
      case 'end_call':
        return this.#socket.close(1000);
    }
    // Ignores other types: a later version of the interface may add some.
  }

  /** @param {StartCall} start */
  async #start({ session_id, metadata, audio_config }) {
    if (this.#peer) return this.fail('connection_failed', 'The call has already started.', 1002);
    // The minimal form has the audio configuration at the top level, the full form in `metadata`.
    const { codec = 'opus' } = audio_config ?? metadata?.audio_config ?? {};
    if (codec.toLowerCase() !== 'opus') {
      return this.fail('audio_error', 'The codec must be opus.', 4406);
    }
    this.#sessionId = session_id;
    this.#metadata = metadata;
    const { peer, track } = this.#createPeer();
    this.#peer = peer;
    await peer.setLocalDescription(await peer.createOffer());
    this.#line = await AudioLine.open({
      send: (payload, { sequenceNumber, timestamp }) => {
        const header = new RtpHeader({ sequenceNumber, timestamp, marker: false });
        track.writeRtp(new RtpPacket(header, Buffer.from(payload)));
      },
      onTurn: (samples, endedMs) => {
        this.#replyToTurn(samples, endedMs).catch((error) => this.#handleError(error));
      },
    });
    // The caller may have hung up while the call was prepared.
    if (this.#socket.readyState !== this.#socket.OPEN) return this.#release();
    this.#send({
      type: 'call_ready',
      // Contains all ICE candidates, because the interface has no message for separate ones.
      webrtc_offer: { type: 'offer', sdp: peer.localDescription?.sdp ?? '' },
      metadata: { agent_ready: true, audio_codec: 'opus' },
    });
  }

  /** @param {string} sdp */
  async #connect(sdp) {
    if (!/^m=audio /m.test(sdp)) {
      return this.fail('connection_failed', 'The answer has no audio.', 1007);
    }
    await this.#peer?.setRemoteDescription({ type: 'answer', sdp });
  }

  #createPeer() {
    const family = isIPv6(this.#address) ? 'udp6' : 'udp4';
    const peer = new RTCPeerConnection({
      codecs: { audio: [useOPUS()], video: [] },
      bundlePolicy: 'max-bundle',
      // Callers can reach this server directly, so it needs no STUN server and only answers checks.
      iceLite: true,
      iceUseIpv4: false,
      iceUseIpv6: false,
      iceAdditionalHostAddresses: [MEDIA_ADDRESS ?? this.#address],
      ...(MEDIA_ADDRESS === undefined && { iceInterfaceAddresses: { [family]: this.#address } }),
    });
    const track = new MediaStreamTrack({ kind: 'audio' });
    peer.addTransceiver(track, { direction: 'sendrecv' });
    // A remote track only has packets of senders that the answer announces, and an answer need not
    // announce any. The transport has all packets.
    peer.dtlsTransports[0]?.onRtp.subscribe(({ payload }) => this.#line?.hear(payload));
    peer.connectionStateChange.subscribe((state) => {
      if (state === 'connected') this.#greet().catch((error) => this.#handleError(error));
      if (state === 'failed') this.fail('connection_failed', 'The media connection failed.', 1011);
    });
    return { peer, track };
  }

  async #greet() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#socket.close(1000), CALL_MS_MAX);
    this.#line?.start();
    this.#line?.say(await synthesize('Hello, how can I help you?'));
  }

  /**
   * Replies to a turn of the caller.
   *
   * @param {Int16Array} samples Speech of the caller.
   * @param {number} endedMs Time when the caller stopped speaking.
   */
  async #replyToTurn(samples, endedMs) {
    const user = await recognize(samples);
    this.#messages.push({ role: 'user', content: user });
    const { content, confidence } = await replyTo(this.#messages, {
      profile: undefined,
      metadata: this.#metadata,
    });
    this.#messages.push({ role: 'assistant', content });
    this.#line?.say(await synthesize(content));
    // Evals read the conversation from these messages.
    this.#send({
      type: 'conversation_update',
      transcript: { user, agent: content },
      metadata: {
        response_time_ms: Math.round(performance.now() - endedMs),
        confidence_score: confidence,
      },
    });
  }

  /** @param {{ type: string } & Record<string, unknown>} message */
  #send({ type, ...fields }) {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    // The service assigns messages to simulations by these ids.
    const ids = type === 'error' ? {} : { session_id: this.#sessionId, call_id: this.#id };
    this.#socket.send(JSON.stringify({ type, ...ids, ...fields }));
  }

  /** @param {unknown} error An error of the agent or of the media. Only the log has its details. */
  #handleError(error) {
    console.error(error);
    this.fail('connection_failed', 'The call failed.', 1011);
  }

  #release() {
    clearTimeout(this.#timer);
    this.#line?.close();
    this.#line = undefined;
    void this.#peer?.close();
  }
}

/**
 * @param {string} text
 * @returns {any} The message, or undefined if the text is not a JSON object with a type.
 */
function parseMessage(text) {
  try {
    const message = JSON.parse(text);
    return typeof message?.type === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
