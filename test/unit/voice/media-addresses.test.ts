/** To which addresses that a sandbox names the kit sends media. */
import t from 'tap';
import { createAddressFilter } from '../../../src/voice/call/index.ts';

const CANDIDATES = [
  '127.0.0.1',
  '192.168.0.7',
  'fd12::1',
  '203.0.113.7',
  '169.254.169.254',
  'fe80::1',
];

const rows: [sandbox: string | undefined, accepted: readonly string[]][] = [
  ['127.0.0.1', ['127.0.0.1', '192.168.0.7', 'fd12::1', '203.0.113.7']],
  ['::ffff:10.0.0.5', ['192.168.0.7', 'fd12::1', '203.0.113.7']],
  ['198.51.100.1', ['203.0.113.7']],
  ['169.254.1.1', ['203.0.113.7']],
  [undefined, ['203.0.113.7']],
];

for (const [sandbox, accepted] of rows) {
  void t.test(`a sandbox at ${sandbox ?? 'an unknown address'} gets no media elsewhere`, (t) => {
    t.same(CANDIDATES.filter(createAddressFilter(sandbox)), accepted);
    t.end();
  });
}
