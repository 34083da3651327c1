/** The local address from which media reaches a sandbox. */
import { networkInterfaces } from 'node:os';
import t from 'tap';
import { findLocalAddress } from '../../../src/voice/call/index.ts';

const EXTERNAL_ADDRESS = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
const skip =
  EXTERNAL_ADDRESS === undefined ? 'this machine has no network interface besides loopback' : false;

/** Creates an offer with candidates at these addresses. */
const createOffer = (...addresses: string[]): string =>
  addresses
    .map((address, nth) => `a=candidate:${nth} 1 UDP 2122260223 ${address} 5000 typ host\r\n`)
    .join('');

void t.test('media uses the local address of the WebSocket if it is not loopback', async (t) => {
  t.equal(await findLocalAddress('10.1.2.3', createOffer('127.0.0.1')), '10.1.2.3');
  t.equal(await findLocalAddress('::ffff:10.1.2.3', ''), '10.1.2.3');
});

void t.test('on loopback, media uses loopback of the offered address family', async (t) => {
  t.equal(await findLocalAddress('127.0.0.1', createOffer('127.0.0.1')), '127.0.0.1');
  t.equal(await findLocalAddress('127.0.0.1', createOffer('::1')), '::1');
  t.equal(await findLocalAddress('::1', createOffer('::1', '127.0.0.1')), '127.0.0.1');
  t.equal(await findLocalAddress('::1', ''), '127.0.0.1', 'without an offer');
});

void t.test(
  'if the offer has no loopback address, media uses the address that reaches the offered one',
  { skip },
  async (t) => {
    // libnice (GStreamer, Janus) and containers reject packets from loopback at such an address.
    const external = EXTERNAL_ADDRESS ?? '';
    t.equal(await findLocalAddress('127.0.0.1', createOffer(external)), external);
    t.equal(await findLocalAddress('127.0.0.1', createOffer('fe80::1', '::1', external)), external);
    t.equal(await findLocalAddress('127.0.0.1', createOffer(external, '127.0.0.1')), '127.0.0.1');
    const tcp = 'a=candidate:1 1 tcp 1518280447 127.0.0.1 9 typ host tcptype active\r\n';
    const rtcp = 'a=candidate:2 2 udp 2122260222 127.0.0.1 5001 typ host\r\n';
    t.equal(await findLocalAddress('127.0.0.1', `${tcp}${rtcp}${createOffer(external)}`), external);
  },
);

void t.test('unreachable candidates are skipped', async (t) => {
  const offer = createOffer('255.255.255.255', '5f5b.local', 'fe80::1', '999.1.1.1');
  t.equal(await findLocalAddress('127.0.0.1', offer), '127.0.0.1');
});
