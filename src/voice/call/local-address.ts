import { isLoopbackHost } from '../../platform/loopback.ts';
import { createSocket } from 'node:dgram';
import { isIPv4, isIPv6 } from 'node:net';

/** More candidates than this are ignored. */
const CANDIDATES_MAX = 16;

/**
 * Returns the local address to send media from.
 *
 * Usually this is the local address of the WebSocket. A WebSocket on loopback, however, may be a
 * tunnel or lead to a container, and some network stacks don't deliver packets from loopback to
 * another local address. In that case the first reachable address of the offer decides; loopback is
 * the fallback. No packet is sent to find out.
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

/**
 * Loopback first, because then no packet leaves the machine; IPv4 before IPv6, which is often
 * configured but not routed.
 */
function inOrder(offered: readonly string[]): string[] {
  const [ipv4, ipv6] = [offered.filter(isIPv4), offered.filter(isIPv6)];
  return [ipv4, ipv6].flatMap((family) => [
    ...family.filter(isLoopbackHost),
    ...family.filter((address) => !isLoopbackHost(address)),
  ]);
}

/** Returns the UDP addresses of the offer in order, without relays and host names. */
function addressesIn(offer: string): string[] {
  const lines = offer.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) \d+ typ (?:host|srflx)/gim);
  return [...new Set(Array.from(lines, ([, address = '']) => address))];
}

/**
 * Returns the local address that would be used to reach an address; undefined if there is no route.
 */
function addressTowards(address: string): Promise<string | undefined> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  return new Promise((resolve) => {
    const done = (own?: string): void => {
      socket.close();
      resolve(own);
    };
    socket.once('error', () => done());
    socket.once('connect', () => done(socket.address().address));
    // Connecting a datagram socket only looks up the route; nothing is sent.
    socket.connect(DISCARD_PORT, address);
  });
}

const DISCARD_PORT = 9;

const anyLoopback = (address: string): string => (isIPv6(address) ? '::1' : '127.0.0.1');
