import { findAddressScope, type AddressScope } from '../../platform/address-scope.ts';

/** The scopes that media may be sent to, by the scope of the sandbox; public ones are always allowed. */
const ALLOWED_SCOPES: Record<AddressScope, readonly AddressScope[]> = {
  loopback: ['loopback', 'private', 'public'],
  private: ['private', 'public'],
  public: ['public'],
  reserved: ['public'],
};

/**
 * Returns whether media may be sent to an address that a sandbox names. A hostile sandbox must not make
 * the kit send packets into a network that it is not part of, or to a metadata service.
 *
 * @param sandboxAddress The address of its WebSocket; undefined behind a proxy.
 */
export function createAddressFilter(
  sandboxAddress: string | undefined,
): (address: string) => boolean {
  const scope = (sandboxAddress !== undefined && findAddressScope(sandboxAddress)) || 'public';
  return (address) => {
    const candidate = findAddressScope(address);
    return candidate !== undefined && ALLOWED_SCOPES[scope].includes(candidate);
  };
}
