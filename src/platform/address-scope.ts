import { BlockList, isIP, isIPv6 } from 'node:net';

/**
 * Which network an IP address belongs to. `reserved` addresses are never those of a sandbox:
 * unspecified, multicast, and link-local ones, and the metadata services of cloud providers.
 */
export type AddressScope = 'loopback' | 'private' | 'public' | 'reserved';

/** The ranges of each scope; the first that contains an address decides. */
const RANGES: readonly [AddressScope, ranges: readonly string[]][] = [
  // Metadata services inside ranges that are private or public.
  ['reserved', ['fd00:ec2::254/128', '100.100.100.200/32', 'fd20:ce::254/128']],
  ['reserved', ['168.63.129.16/32', '192.0.0.192/32']],
  // NAT64 translates these to link-local IPv4 addresses.
  ['reserved', ['64:ff9b::a9fe:0/112']],
  ['reserved', ['0.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3', '::/128', 'fe80::/10', 'ff00::/8']],
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['private', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7']],
];

const scopes = RANGES.map(([scope, ranges]) => {
  const list = new BlockList();
  for (const range of ranges) {
    const [net = '', prefix = ''] = range.split('/');
    list.addSubnet(net, Number(prefix), isIPv6(net) ? 'ipv6' : 'ipv4');
  }
  return { scope, list };
});

/** Returns the scope of an IP address, with or without brackets; undefined for a host name. */
export function findAddressScope(address: string): AddressScope | undefined {
  const bare = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const plain = bare.replace(/^::ffff:(?=\d+\.)/i, '');
  const family = isIP(plain);
  if (family === 0) return undefined;
  // BlockList also finds IPv4 addresses that are mapped into IPv6.
  const type = family === 6 ? 'ipv6' : 'ipv4';
  return scopes.find(({ list }) => list.check(plain, type))?.scope ?? 'public';
}

/**
 * Returns whether a sandbox can have an IP address. The unspecified address of IPv4 means this machine:
 * servers print it as the address on which they listen.
 */
export const canBeSandbox = (address: string): boolean =>
  address === '0.0.0.0' || findAddressScope(address) !== 'reserved';
