/** One end of a WebRTC call. */
export { PathMeter, type RoundTripOptions, type PathStatistics } from './path-meter.ts';
export { PeerError } from './peer.ts';
export type {
  AudioPacket,
  PacketHeader,
  Peer,
  PeerNetwork,
  PeerOptions,
  PeerState,
  PeerStatistics,
} from './peer.ts';
export { createPeer } from './werift-peer.ts';
