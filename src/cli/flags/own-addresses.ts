import { BlockList, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { z } from 'zod';
import { ipAddress } from './flags.ts';

/** As many as a sentence has room for. */
const SHOWN_MAX = 6;

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');

/** The addresses of this machine, without their zones; local links last. */
function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces())
    .flatMap((interfaces) => interfaces ?? [])
    .map(({ address }) => address.replace(/%.*$/, ''));
  const isLink = (address: string): boolean => /^fe80:/i.test(address);
  return [...new Set(all)].sort((one, other) => Number(isLink(one)) - Number(isLink(other)));
}

function isOwn(address: string, own: readonly string[]): boolean {
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8);
  for (const one of own) list.addAddress(one, familyOf(one));
  return list.check(address.replace(/%.*$/, ''), familyOf(address));
}

/** An IP address of this machine: from no other can media be sent, or be awaited at. */
export const ownAddress: z.ZodType<string> = ipAddress.superRefine((text, context) => {
  const own = ownAddresses();
  if (isOwn(text, own)) return;
  const shown = own.slice(0, SHOWN_MAX).join(', ');
  const more = own.length > SHOWN_MAX ? ` and ${own.length - SHOWN_MAX} more` : '';
  const message = `expected an address of this machine (${shown}${more}), got ${JSON.stringify(text)}`;
  context.addIssue({ code: 'custom', message });
});
