import { isIPv6 } from 'node:net';
import { useOPUS, type RTCPeerConnectionConfig } from 'werift';
import type { PeerNetwork } from './peer.ts';

/** Where a peer is when nothing else is said. */
export const LOOPBACK_ADDRESS = '127.0.0.1';

/** What the peer offers and takes; payload type 111 as browsers have it. */
const opus = () => useOPUS({ payloadType: 111, parameters: 'minptime=10;useinbandfec=1' });

/** How werift is told where to be reached, and what to speak. */
export function createPeerConfig({
  address = LOOPBACK_ADDRESS,
  ports,
  servers = [],
}: PeerNetwork): RTCPeerConnectionConfig {
  const family = isIPv6(address) ? 'udp6' : 'udp4';
  return {
    iceServers: servers.map((server) => ({ ...server })),
    // The one address and no other: without these, all interfaces of the machine are offered.
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: [address],
    iceInterfaceAddresses: { [family]: address },
    ...(ports && { icePortRange: [...ports] as [number, number] }),
    bundlePolicy: 'max-bundle',
    codecs: { audio: [opus()], video: [] },
  };
}
