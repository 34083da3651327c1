import { isLoopbackHost } from '../../platform/loopback.ts';
import { createSocket } from 'node:dgram';
import { isIPv4, isIPv6 } from 'node:net';

/** Candidates that are asked after; an offer with more is not helped by the rest. */
const CANDIDATES_MAX = 16;

/**
 * The address of this machine by which media reaches a sandbox: that of its WebSocket. A WebSocket on
 * loopback may be a tunnel, or end at a container, and some stacks take no packet from loopback on
 * another of their addresses: there the first address of the offer that this machine has a way to
 * decides, and loopback where it names none. Nothing is sent to find out.
 */
export async function findLocalAddress(localAddress: string, offer: string): Promise<string> {
  const own = localAddress.replace(/^::ffff:/i, '');
  if (!isLoopbackHost(own) && own !== '') return own;
  const offered = addressesIn(offer);
  for (const address of inOrder(offered).slice(0, CANDIDATES_MAX)) {
    const towards = isLoopbackHost(address) ? anyLoopback(address) : await addressTowards(address);
    if (towards !== undefined) return towards;
  }
  return '127.0.0.1';
}

/** Loopback first: there nothing leaves the machine. IPv4 before IPv6, which is often there in name. */
function inOrder(offered: readonly string[]): string[] {
  const [ipv4, ipv6] = [offered.filter(isIPv4), offered.filter(isIPv6)];
  return [ipv4, ipv6].flatMap((family) => [
    ...family.filter(isLoopbackHost),
    ...family.filter((address) => !isLoopbackHost(address)),
  ]);
}

/** Where media may be sent to over UDP, in the order of the offer; relays and names left out. */
function addressesIn(offer: string): string[] {
  const lines = offer.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) \d+ typ (?:host|srflx)/gim);
  return [...new Set(Array.from(lines, ([, address = '']) => address))];
}

/** What a packet to there would be sent from; undefined where there is no way. */
function addressTowards(address: string): Promise<string | undefined> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  return new Promise((resolve) => {
    const done = (own?: string): void => {
      socket.close();
      resolve(own);
    };
    socket.once('error', () => done());
    socket.once('connect', () => done(socket.address().address));
    // To connect a datagram socket looks the way up, and sends nothing.
    socket.connect(DISCARD_PORT, address);
  });
}

const DISCARD_PORT = 9;

const anyLoopback = (address: string): string => (isIPv6(address) ? '::1' : '127.0.0.1');
