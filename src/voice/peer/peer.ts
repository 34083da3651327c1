import type { Clock } from '../../platform/clock.ts';

/** Where a peer can be reached. Nothing leaves the machine unless this says so. */
export interface PeerNetwork {
  /** The address of this machine to send from and to offer; `127.0.0.1` when left out. */
  address?: string;
  /** Ports to choose from, both included; any free one when left out. */
  ports?: readonly [number, number];
  /** STUN and TURN servers; none when left out. */
  servers?: readonly { urls: string; username?: string; credential?: string }[];
}

/** How a peer is made. */
export interface PeerOptions {
  clock: Clock;
  network?: PeerNetwork;
  /** Gets each packet of audio as it comes. Must not throw. */
  onPacket?: (packet: AudioPacket) => void;
  /** Gets each change of the state, once. */
  onState?: (state: PeerState) => void;
  /**
   * How long the connection is not given up after a description without a candidate: one may come
   * apart from it, or the other side may call; 5000 ms.
   */
  candidateMsMax?: number;
}

/** `connected`: media can flow both ways. `failed` and `closed` are final. */
export type PeerState = 'new' | 'connecting' | 'connected' | 'failed' | 'closed';

/** What stands before the sound of a packet. */
export interface PacketHeader {
  /** 0 to 65535; the next packet has the next number. */
  sequence: number;
  /** In ticks of 1/48000 s, modulo 2^32. */
  timestamp: number;
  payloadType: number;
  marker: boolean;
}

/** One packet of audio that arrived. */
export interface AudioPacket extends PacketHeader {
  ssrc: number;
  payload: Buffer;
  /** Of the peer's clock, monotonic. */
  arrivedAtMs: number;
}

/** What a peer sends and counts. */
export interface PeerStatistics {
  packetsSent: number;
  packetsReceived: number;
  /** With SRTP's own bytes, without those of UDP. */
  bytesSent: number;
  bytesReceived: number;
}

/** The other side's description can't be used, or the connection came to nothing. */
export class PeerError extends Error {
  override name = 'PeerError';
}

/** One end of a WebRTC call with one audio stream of Opus each way. */
export interface Peer {
  readonly state: PeerState;
  /**
   * Whether the two sides have found a path to each other. A side that answers knows by it that the
   * other has taken its answer, whatever becomes of the keys.
   */
  readonly hasPath: boolean;
  /** Begins a call: an SDP offer with all candidates in it. @throws PeerError. */
  createOffer(): Promise<string>;
  /** Takes an offer: the SDP answer with all candidates in it. @throws PeerError. */
  createAnswer(offer: string): Promise<string>;
  /** Takes the answer to an own offer. @throws PeerError. */
  acceptAnswer(answer: string): Promise<void>;
  /** A candidate that came apart from the description; one that can't be used is ignored. */
  addCandidate(candidate: string): Promise<void>;
  /** Resolves once media can flow. @throws PeerError, or the signal's reason. */
  waitUntilConnected(signal: AbortSignal): Promise<void>;
  /**
   * Sends one packet; false when it can't, before the connection and after it.
   * `timestamp`: ticks of 1/48000 s since the first packet.
   */
  send(payload: Buffer, timestamp: number, marker?: boolean): boolean;
  /** Sends one packet with a header of the caller's own, right or wrong: for peers that break rules. */
  sendWithHeader(header: PacketHeader, payload: Buffer): boolean;
  /**
   * The round trip on the path of the media, in milliseconds, by a STUN request. Undefined when
   * there is no path, or no answer within `waitMs`. To be asked a few times a second at most.
   */
  measureRoundTripMs(waitMs?: number): Promise<number | undefined>;
  statistics(): PeerStatistics;
  /** Ends the call. The other side is not told by the media: the signalling must do that. */
  close(): Promise<void>;
}
