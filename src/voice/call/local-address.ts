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
  const socketAddress = localAddress.replace(/^::ffff:/i, '');
  if (!isLoopbackHost(socketAddress) && socketAddress !== '') return socketAddress;
  const candidates = sortByPreference(findAddresses(offer));
  for (const candidate of candidates.slice(0, CANDIDATES_MAX)) {
    const source = isLoopbackHost(candidate)
      ? loopbackOfFamily(candidate)
      : await findSourceAddress(candidate);
    if (source !== undefined) return source;
  }
  return '127.0.0.1';
}

/**
 * Puts loopback first, because then no packet leaves the machine, and IPv4 before IPv6, which is
 * often configured but not routed.
 */
function sortByPreference(addresses: readonly string[]): string[] {
  const [ipv4, ipv6] = [addresses.filter(isIPv4), addresses.filter(isIPv6)];
  return [ipv4, ipv6].flatMap((family) => [
    ...family.filter(isLoopbackHost),
    ...family.filter((address) => !isLoopbackHost(address)),
  ]);
}

/** Returns the UDP addresses of the offer in order, without relays and host names. */
function findAddresses(offer: string): string[] {
  const lines = offer.matchAll(/^a=candidate:\S+ 1 udp \d+ (\S+) \d+ typ (?:host|srflx)/gim);
  return [...new Set(Array.from(lines, ([, address = '']) => address))];
}

/** Returns the local address that reaches an address; undefined if there is no route. */
function findSourceAddress(address: string): Promise<string | undefined> {
  const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
  return new Promise((resolve) => {
    const done = (source?: string): void => {
      socket.close();
      resolve(source);
    };
    socket.once('error', () => done());
    socket.once('connect', () => done(socket.address().address));
    // Connecting a datagram socket only looks up the route; nothing is sent.
    socket.connect(DISCARD_PORT, address);
  });
}

const DISCARD_PORT = 9;

const loopbackOfFamily = (address: string): string => (isIPv6(address) ? '::1' : '127.0.0.1');
