/**
 * The address of this machine by which media reaches a sandbox: that of its WebSocket, and on this
 * machine one of the family that is offered, since `localhost` may be either.
 */
export function ownAddress(localAddress: string, offer: string): string {
  const own = localAddress.replace(/^::ffff:/i, '');
  if (!/^(127\.|::1$|$)/.test(own)) return own;
  const offersIpv6Alone = / [0-9a-f:]*:[0-9a-f:]* \d+ typ /i.test(offer) && !ipv4.test(offer);
  return offersIpv6Alone ? '::1' : '127.0.0.1';
}

const ipv4 = / \d{1,3}(\.\d{1,3}){3} \d+ typ /;
