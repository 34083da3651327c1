/** One end of a WebRTC call. */
export { PathMeter, type PathStatistics } from './path-meter.ts';
export type { AudioPacket, Peer, PeerNetwork, PeerOptions } from './peer.ts';
export { createPeer } from './werift-peer.ts';
