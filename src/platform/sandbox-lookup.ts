import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { canBeSandbox } from './address-scope.ts';

/** The code of the error for a host name without an address to which requests may be sent. */
export const RESERVED_ADDRESS = 'ERR_RESERVED_ADDRESS';

/**
 * Looks up the host name of a sandbox as Node does, but drops the addresses that a URL must not
 * contain: the owner of a host name can point it at any address.
 */
export const lookupSandbox: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found) => {
    const addresses = error ? [] : found.filter(({ address }) => canBeSandbox(address));
    const [first] = addresses;
    if (first && options.all) callback(null, addresses);
    else if (first) callback(null, first.address, first.family);
    else callback(error ?? createReservedError(hostname), '', 0);
  });
};

function createReservedError(hostname: string): NodeJS.ErrnoException {
  const message = `${hostname} leads only to link-local, multicast, or metadata addresses`;
  return Object.assign(new Error(message), { code: RESERVED_ADDRESS });
}
