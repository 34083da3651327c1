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

/** How long a call may take until audio flows, and how long it may last. */
const SETUP_MS_MAX = 10_000;
const CALL_MS_MAX = 30 * 60_000;

/** Set it if the service reaches this machine at another address than its own, as behind NAT. */
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
   * @param {string} address of this machine, for media
   */
  constructor(socket, address) {
    this.#socket = socket;
    this.#address = address;
    this.#timer = setTimeout(
      () => this.fail('connection_failed', 'The call was not set up in time.', 4408),
      SETUP_MS_MAX,
    );
    socket.on('message', (data, isBinary) => {
      this.#receive(String(data), isBinary).catch((error) => this.#break(error));
    });
    // The interface has no message that ends a call: the closed WebSocket is the only sign.
    socket.on('close', () => this.#release());
    socket.on('error', () => {}); // A violation of the protocol; ws closes the socket.
  }

  /**
   * Ends the call with an error message (spec 7).
   *
   * @param {'connection_failed' | 'audio_error'} code
   * @param {string} message
   * @param {number} closeCode The interface defines none.
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
      return this.fail('connection_failed', 'Messages are JSON objects with a type.', 1007);
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
    // Other types may come with a later version of the interface.
  }

  /** @param {StartCall} start */
  async #start({ session_id, metadata, audio_config }) {
    if (this.#peer) return this.fail('connection_failed', 'The call has started already.', 1002);
    // The minimal form has the audio configuration at the top level, the full form in `metadata`.
    const { codec = 'opus' } = audio_config ?? metadata?.audio_config ?? {};
    if (codec.toLowerCase() !== 'opus') {
      return this.fail('audio_error', 'The only codec is opus.', 4406);
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
        this.#takeTurn(samples, endedMs).catch((error) => this.#break(error));
      },
    });
    // The caller may have hung up while the call was prepared.
    if (this.#socket.readyState !== this.#socket.OPEN) return this.#release();
    this.#send({
      type: 'call_ready',
      // The offer contains all ICE candidates: no message is defined for separate ones.
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
      // A server that the caller can reach needs no STUN server: ICE-lite only answers checks.
      iceLite: true,
      iceUseIpv4: false,
      iceUseIpv6: false,
      iceAdditionalHostAddresses: [MEDIA_ADDRESS ?? this.#address],
      ...(MEDIA_ADDRESS === undefined && { iceInterfaceAddresses: { [family]: this.#address } }),
    });
    const track = new MediaStreamTrack({ kind: 'audio' });
    peer.addTransceiver(track, { direction: 'sendrecv' });
    // The transport has the packets of every sender; a remote track has only those of senders that
    // the answer announces, which is optional.
    peer.dtlsTransports[0]?.onRtp.subscribe(({ payload }) => this.#line?.hear(payload));
    peer.connectionStateChange.subscribe((state) => {
      if (state === 'connected') this.#greet().catch((error) => this.#break(error));
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
   * @param {Int16Array} samples What the caller said.
   * @param {number} endedMs When the caller stopped speaking.
   */
  async #takeTurn(samples, endedMs) {
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

  /** @param {unknown} error An error of the agent or of the media; the details stay in the log. */
  #break(error) {
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
 * @returns {any} undefined if it is not a message
 */
function parseMessage(text) {
  try {
    const message = JSON.parse(text);
    return typeof message?.type === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
