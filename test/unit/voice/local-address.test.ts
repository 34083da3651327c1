/** By which address of this machine media reaches a sandbox. */
import { networkInterfaces } from 'node:os';
import t from 'tap';
import { findLocalAddress } from '../../../src/voice/call/index.ts';

const OWN = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
const skip = OWN === undefined ? 'there is no interface besides loopback' : false;

/** An offer of these addresses, in this order. */
const offering = (...addresses: string[]): string =>
  addresses
    .map((address, nth) => `a=candidate:${nth} 1 UDP 2122260223 ${address} 5000 typ host\r\n`)
    .join('');

void t.test(
  'where the WebSocket is not on loopback, its address is that of the media',
  async (t) => {
    t.equal(await findLocalAddress('10.1.2.3', offering('127.0.0.1')), '10.1.2.3');
    t.equal(await findLocalAddress('::ffff:10.1.2.3', ''), '10.1.2.3');
  },
);

void t.test('on loopback, it is loopback of the family that is offered', async (t) => {
  t.equal(await findLocalAddress('127.0.0.1', offering('127.0.0.1')), '127.0.0.1');
  t.equal(await findLocalAddress('127.0.0.1', offering('::1')), '::1');
  t.equal(await findLocalAddress('::1', offering('::1', '127.0.0.1')), '127.0.0.1');
  t.equal(await findLocalAddress('::1', ''), '127.0.0.1', 'nothing is offered yet');
});

void t.test(
  'an offer of another address than loopback is reached from where it is',
  { skip },
  async (t) => {
    // libnice (GStreamer, Janus) takes nothing from loopback there; nor does a container.
    const other = OWN ?? '';
    t.equal(await findLocalAddress('127.0.0.1', offering(other)), other);
    t.equal(await findLocalAddress('127.0.0.1', offering('fe80::1', '::1', other)), other);
    t.equal(await findLocalAddress('127.0.0.1', offering(other, '127.0.0.1')), '127.0.0.1');
    const tcp = 'a=candidate:1 1 tcp 1518280447 127.0.0.1 9 typ host tcptype active\r\n';
    const rtcp = 'a=candidate:2 2 udp 2122260222 127.0.0.1 5001 typ host\r\n';
    t.equal(await findLocalAddress('127.0.0.1', `${tcp}${rtcp}${offering(other)}`), other);
  },
);

void t.test('what cannot be reached is passed over', async (t) => {
  const nowhere = offering('255.255.255.255', '5f5b.local', 'fe80::1', '999.1.1.1');
  t.equal(await findLocalAddress('127.0.0.1', nowhere), '127.0.0.1');
});
