import { errorMessage } from '../../platform/error-origin.ts';
import { createSocket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import {
  MediaStreamTrack,
  RTCPeerConnection,
  RtpHeader,
  type RTCDtlsTransport,
  type RTCIceTransport,
  type RTCRtpTransceiver,
  type RtpPacket,
} from 'werift';
import { FRAME_TICKS } from '../opus/frame.ts';
import { createPeerConfig, LOOPBACK_ADDRESS } from './peer-config.ts';
import {
  PeerError,
  type PacketHeader,
  type Peer,
  type PeerOptions,
  type PeerState,
  type PeerStatistics,
} from './peer.ts';
import {
  CANDIDATES_MAX,
  findExcess,
  hasCandidate,
  readCandidateAddress,
  findMissingLine,
  reopenBundledAudio,
  appendCandidates,
  filterCandidates,
} from './sdp-lines.ts';

const CANDIDATE_MS_DEFAULT = 5_000;
const PING_MS_DEFAULT = 1_000;

/** Number of senders per call that are received although the description does not announce them. */
const UNANNOUNCED_SENDERS_MAX = 4;

/** Creates a peer. */
export function createPeer(options: PeerOptions): Peer {
  return new WeriftPeer(options);
}

class WeriftPeer implements Peer {
  readonly #options: PeerOptions;
  readonly #connection: RTCPeerConnection;
  readonly #header = new RtpHeader();
  #unannouncedSenders = 0;
  #payloadType = 0;
  #state: PeerState = 'new';
  #dtls: RTCDtlsTransport | undefined;
  /** The last socket error, for the message of a failure. */
  #socketError: Error | undefined;
  /** Candidates that arrived before the description. */
  readonly #earlyCandidates: string[] = [];
  #candidates = 0;
  readonly #refused = new Set<string>();
  #hasRemoteDescription = false;
  /** Resolves when the other side can be tried: it sent a candidate or a connectivity check. */
  readonly #candidateFound = Promise.withResolvers<undefined>();
  #hasCandidate = false;
  /** Kept here, because a failed connection loses this state. */
  #hadPath = false;
  readonly #waiting = new Set<() => void>();
  #closing: Promise<void> | undefined;

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#connection = new RTCPeerConnection({
      ...createPeerConfig(options.network ?? {}),
      iceWaitForCandidate: () => this.#waitForCandidate(),
    });
    // Only `connectionState` is reliable: the ICE state of werift is "completed" when gathering ends.
    this.#connection.connectionStateChange.subscribe(() => this.#onConnectionState());
    this.#connection.iceConnectionStateChange.subscribe(() => (this.#hadPath = this.hasPath));
  }

  get state(): PeerState {
    return this.#state;
  }

  async createOffer(): Promise<string> {
    const track = new MediaStreamTrack({ kind: 'audio' });
    this.#prepare(this.#connection.addTransceiver(track, { direction: 'sendrecv' }));
    await this.#checkAddress();
    return this.#describe(() => this.#connection.createOffer());
  }

  async createAnswer(offer: string): Promise<string> {
    await this.#setRemote('offer', offer);
    const audio = this.#audio();
    if (!audio) throw new PeerError('the offer has no audio');
    await audio.sender.replaceTrack(new MediaStreamTrack({ kind: 'audio' }));
    audio.setDirection('sendrecv');
    this.#prepare(audio);
    await this.#checkAddress();
    return this.#describe(() => this.#connection.createAnswer());
  }

  async acceptAnswer(answer: string): Promise<void> {
    await this.#setRemote('answer', answer);
  }

  async addCandidate(text: string): Promise<void> {
    const candidate = text.trimEnd();
    this.#candidates += 1;
    if (this.#candidates > CANDIDATES_MAX || !this.#acceptsCandidate(candidate)) return;
    if (!this.#hasRemoteDescription) {
      this.#earlyCandidates.push(candidate);
      return;
    }
    const init = { candidate: candidate.replace(/^a=/, ''), sdpMLineIndex: 0 };
    await this.#connection.addIceCandidate(init).then(
      () => this.#onCandidate(),
      () => undefined,
    );
  }

  async waitUntilConnected(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const wake = (): void => resolve(undefined);
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake);
    if (isSettled(this.#state) || signal.aborted) wake();
    await promise;
    this.#waiting.delete(wake);
    signal.removeEventListener('abort', wake);
    if (!isSettled(this.#state)) signal.throwIfAborted();
    if (this.#state !== 'connected') throw new PeerError(this.#explainFailure());
  }

  get refusedAddresses(): readonly string[] {
    return [...this.#refused];
  }

  get hasPath(): boolean {
    return this.#hadPath || this.#connection.iceTransports[0]?.connection.nominated !== undefined;
  }

  send(payload: Buffer, timestamp: number, marker = false): boolean {
    const sequence = (this.#header.sequenceNumber + 1) & 0xffff;
    return this.sendWithHeader(
      { sequence, timestamp, marker, payloadType: this.#payloadType },
      payload,
    );
  }

  sendFrame(nth: number, payload: Buffer): boolean {
    const [sequence, timestamp] = [(nth + 1) & 0xffff, nth * FRAME_TICKS];
    return this.sendWithHeader(
      { sequence, timestamp, marker: false, payloadType: this.#payloadType },
      payload,
    );
  }

  sendWithHeader(
    { sequence, timestamp, marker, payloadType }: PacketHeader,
    payload: Buffer,
  ): boolean {
    const [dtls, header] = [this.#dtls, this.#header];
    if (this.#state !== 'connected' || !dtls) return false;
    header.sequenceNumber = sequence & 0xffff;
    header.timestamp = timestamp >>> 0;
    header.payloadType = payloadType;
    header.marker = marker;
    // Sends directly to SRTP, because the RTP sender of werift keeps a copy of each packet.
    void dtls.sendRtp(payload, header);
    return true;
  }

  async measureRoundTripMs(waitMs = PING_MS_DEFAULT): Promise<number | undefined> {
    const { clock } = this.#options;
    const startedMs = clock.monotonicMs();
    const [transport] = this.#connection.iceTransports;
    const hasResponse = await transport?.connection.ping(waitMs).catch(() => false);
    return hasResponse === true ? clock.monotonicMs() - startedMs : undefined;
  }

  statistics(): PeerStatistics {
    const {
      packetsSent = 0,
      packetsReceived = 0,
      bytesSent = 0,
      bytesReceived = 0,
    } = this.#dtls ?? {};
    return { packetsSent, packetsReceived, bytesSent, bytesReceived };
  }

  close(): Promise<void> {
    this.#candidateFound.resolve(undefined);
    this.#closing ??= this.#connection.close().catch(() => undefined);
    this.#enter('closed');
    return this.#closing;
  }

  /** Returns the audio; an offer may have video before it. */
  #audio(): RTCRtpTransceiver | undefined {
    return this.#connection.getTransceivers().find(({ kind }) => kind === 'audio');
  }

  /** Must be called before candidates are gathered. */
  #prepare(transceiver: RTCRtpTransceiver): void {
    const [dtls] = this.#connection.dtlsTransports;
    if (!dtls) throw new PeerError('the audio has no DTLS transport');
    this.#dtls = dtls;
    for (const transport of this.#connection.iceTransports) this.#observe(transport);
    // Receives packets here instead of from a track, because werift does not route all of them.
    dtls.onRtp.subscribe((packet) => {
      this.#registerSender(transceiver, packet.header.ssrc);
      this.#receive(packet);
    });
  }

  #observe({ connection }: RTCIceTransport): void {
    // The other side knows our candidates, and reveals its own address.
    connection.onConnectivityCheck.subscribe(() => this.#onCandidate());
    connection.onSocketError.subscribe((error) => (this.#socketError = error));
  }

  /** Registers senders without an `a=ssrc` line, which is optional, so that they get receiver reports. */
  #registerSender(transceiver: RTCRtpTransceiver, ssrc: number): void {
    if (this.#unannouncedSenders === UNANNOUNCED_SENDERS_MAX) return;
    if (this.#connection.receiveSsrc(transceiver, ssrc)) this.#unannouncedSenders += 1;
  }

  #receive({ header, payload }: RtpPacket): void {
    this.#options.onPacket?.({
      sequence: header.sequenceNumber,
      timestamp: header.timestamp,
      payloadType: header.payloadType,
      ssrc: header.ssrc,
      marker: header.marker,
      payload,
      arrivedAtMs: this.#options.clock.monotonicMs(),
    });
  }

  async #describe(
    make: () => Promise<Parameters<RTCPeerConnection['setLocalDescription']>[0]>,
  ): Promise<string> {
    try {
      await this.#connection.setLocalDescription(await make());
    } catch (error) {
      throw new PeerError(`the session description could not be created: ${errorMessage(error)}`, {
        cause: error,
      });
    }
    const sdp = this.#connection.localDescription?.sdp ?? '';
    if (!hasCandidate(sdp)) throw new PeerError('this machine has no address to offer');
    return sdp;
  }

  async #setRemote(type: 'offer' | 'answer', description: string): Promise<void> {
    const excess = findExcess(description);
    if (excess !== undefined) throw new PeerError(`the ${type} has ${excess}`);
    const missing = findMissingLine(description);
    if (missing !== undefined) throw new PeerError(`the ${type} has no line "${missing}..."`);
    const sdp = appendCandidates(
      filterCandidates(reopenBundledAudio(description), (line) => this.#acceptsCandidate(line)),
      this.#earlyCandidates,
    );
    if (hasCandidate(sdp)) this.#onCandidate();
    this.#hasRemoteDescription = true;
    try {
      await this.#connection.setRemoteDescription({ type, sdp });
    } catch (error) {
      throw new PeerError(`the ${type} can't be used: ${errorMessage(error)}`, { cause: error });
    }
    const audio = this.#audio();
    this.#payloadType = audio?.codecs[0]?.payloadType ?? 0;
    this.#header.ssrc = audio?.sender.ssrc ?? 0;
  }

  /** Whether a candidate has an address that may be contacted. Remembers those that may not. */
  #acceptsCandidate(candidate: string): boolean {
    const address = readCandidateAddress(candidate);
    if (address === undefined) return false;
    if (this.#options.acceptsAddress?.(address) ?? true) return true;
    if (this.#refused.size < CANDIDATES_MAX) this.#refused.add(address);
    return false;
  }

  #onCandidate(): void {
    this.#hasCandidate = true;
    this.#candidateFound.resolve(undefined);
  }

  /** Waits for a candidate or a connectivity check. @throws PeerError after the timeout. */
  async #waitForCandidate(): Promise<void> {
    using deadline = this.#options.clock.deadline(
      this.#options.candidateMsMax ?? CANDIDATE_MS_DEFAULT,
    );
    deadline.signal.addEventListener('abort', () => this.#candidateFound.resolve(undefined));
    await this.#candidateFound.promise;
    if (!this.#hasCandidate) throw new PeerError(this.#explainFailure());
  }

  /** Binds a socket to the address, because werift does not say why it has no candidate. */
  async #checkAddress(): Promise<void> {
    const { address = LOOPBACK_ADDRESS } = this.#options.network ?? {};
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('error', reject).bind({ address, port: 0, exclusive: true }, resolve);
      });
    } catch (error) {
      throw new PeerError(`${address} can't be used: ${errorMessage(error)}`, { cause: error });
    } finally {
      socket.close();
    }
  }

  #onConnectionState(): void {
    const { connectionState } = this.#connection;
    // A disconnected peer may reconnect; after 30 s, werift reports it as failed.
    this.#enter(connectionState === 'disconnected' ? 'connected' : connectionState);
  }

  #enter(state: PeerState): void {
    const isFinal = this.#state === 'closed' || this.#state === 'failed';
    if (state === this.#state || (isFinal && state !== 'closed')) return;
    this.#state = state;
    this.#options.onState?.(state);
    if (isSettled(state)) for (const wake of this.#waiting) wake();
  }

  #explainFailure(): string {
    if (this.#state === 'closed') return 'the call ended before it was connected';
    if (!this.#hasCandidate) return 'the other side sent no usable candidate and did not connect';
    const cause = this.#socketError ? `: ${this.#socketError.message}` : '';
    return `no path to the other side was found, or the DTLS handshake failed${cause}`;
  }
}

function isSettled(state: PeerState): boolean {
  return state !== 'new' && state !== 'connecting';
}
