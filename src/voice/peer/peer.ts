import type { Clock } from '../../platform/clock.ts';

/** The addresses of a peer. By default, it is only reachable on this machine. */
export interface PeerNetwork {
  /** Local address to bind to and to offer (default: `127.0.0.1`). */
  address?: string;
  /** Port range, inclusive (default: any free port). */
  ports?: readonly [number, number];
  /** STUN and TURN servers (default: none). */
  servers?: readonly { urls: string; username?: string; credential?: string }[];
}

/** How to create a peer. */
export interface PeerOptions {
  clock: Clock;
  network?: PeerNetwork;
  /** Whether packets may be sent to an address that the other side names (default: to any). */
  acceptsAddress?: (address: string) => boolean;
  /** Called for each received audio packet. Must not throw. */
  onPacket?: (packet: AudioPacket) => void;
  /** Called once for each state change. */
  onState?: (state: PeerState) => void;
  /**
   * How long to wait for a candidate after a description without any (default: 5000 ms). A
   * candidate may follow in a separate message, or the other side may connect first.
   */
  candidateMsMax?: number;
}

/** `connected`: media can flow both ways. `failed` and `closed` are final. */
export type PeerState = 'new' | 'connecting' | 'connected' | 'failed' | 'closed';

/** The RTP header fields of a packet. */
export interface PacketHeader {
  /** 0 to 65535; the next packet has the next number. */
  sequence: number;
  /** In ticks of 1/48000 s, modulo 2^32. */
  timestamp: number;
  payloadType: number;
  marker: boolean;
}

/** A received audio packet. */
export interface AudioPacket extends PacketHeader {
  ssrc: number;
  payload: Buffer;
  /** On the peer's monotonic clock. */
  arrivedAtMs: number;
}

/** Traffic counters of a peer. */
export interface PeerStatistics {
  packetsSent: number;
  packetsReceived: number;
  /** Including SRTP overhead, excluding UDP and IP. */
  bytesSent: number;
  bytesReceived: number;
}

/** The description of the other side is unusable, or the connection failed. */
export class PeerError extends Error {
  override name = 'PeerError';
}

/** One end of a WebRTC call with one Opus stream in each direction. */
export interface Peer {
  readonly state: PeerState;
  /** The addresses of candidates that `acceptsAddress` refused. */
  readonly refusedAddresses: readonly string[];
  /**
   * Whether ICE found a path. For the answering side, this proves that the other side accepted the
   * answer, even if the DTLS handshake fails later.
   */
  readonly hasPath: boolean;
  /** Starts a call. Returns an SDP offer with all candidates. @throws PeerError. */
  createOffer(): Promise<string>;
  /** Accepts an offer. Returns the SDP answer with all candidates. @throws PeerError. */
  createAnswer(offer: string): Promise<string>;
  /** Accepts the answer to our own offer. @throws PeerError. */
  acceptAnswer(answer: string): Promise<void>;
  /** Adds a candidate that arrived in a separate message; an unusable one is ignored. */
  addCandidate(candidate: string): Promise<void>;
  /** Resolves when media can flow. @throws PeerError, or the signal's reason. */
  waitUntilConnected(signal: AbortSignal): Promise<void>;
  /**
   * Sends one packet. Returns false if the peer is not connected. `timestamp` is in ticks of
   * 1/48000 s since the first packet.
   */
  send(payload: Buffer, timestamp: number, marker?: boolean): boolean;
  /**
   * Sends the frame of 20 ms with this number, counted from 0. Its header depends only on the number,
   * so frames can be left out, or sent in another order. Returns false if the peer is not connected.
   */
  sendFrame(nth: number, payload: Buffer): boolean;
  /** Sends one packet with an arbitrary header, for test peers that violate the protocol. */
  sendWithHeader(header: PacketHeader, payload: Buffer): boolean;
  /**
   * Measures the round trip on the media path with a STUN request, in milliseconds. Returns
   * undefined if there is no path or no response within `waitMs`. Call it at most a few times a
   * second.
   */
  measureRoundTripMs(waitMs?: number): Promise<number | undefined>;
  statistics(): PeerStatistics;
  /** Ends the call. The media path does not inform the other side; the signaling must do that. */
  close(): Promise<void>;
}
