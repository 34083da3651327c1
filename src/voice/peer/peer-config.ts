import { isIPv6 } from 'node:net';
import { useOPUS, type RTCPeerConnectionConfig } from 'werift';
import type { PeerNetwork } from './peer.ts';

/** The local address unless configured otherwise. */
export const LOOPBACK_ADDRESS = '127.0.0.1';

/** The only codec; browsers also use payload type 111 for it. */
const opus = () => useOPUS({ payloadType: 111, parameters: 'minptime=10;useinbandfec=1' });

/** Creates the werift configuration for the local address, ports, and servers. */
export function createPeerConfig({
  address = LOOPBACK_ADDRESS,
  ports,
  servers = [],
}: PeerNetwork): RTCPeerConnectionConfig {
  const family = isIPv6(address) ? 'udp6' : 'udp4';
  return {
    iceServers: servers.map((server) => ({ ...server })),
    // Offer only this address: by default, werift offers all interfaces of the machine.
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: [address],
    iceInterfaceAddresses: { [family]: address },
    ...(ports && { icePortRange: [...ports] as [number, number] }),
    bundlePolicy: 'max-bundle',
    codecs: { audio: [opus()], video: [] },
  };
}
