/** Which network an address belongs to. */
import t from 'tap';
import { findAddressScope } from '../../../src/platform/address-scope.ts';

const scopes: Record<string, readonly string[]> = {
  loopback: ['127.0.0.1', '127.9.8.7', '::1', '[::1]', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  private: ['10.1.2.3', '172.31.0.1', '192.168.0.7', '100.64.1.1', 'fd12::1', '::ffff:10.0.0.1'],
  public: [
    ...['8.8.8.8', '172.32.0.1', '2001:db8::1', '100.128.0.1', '223.255.255.255'],
    ...['168.63.129.17', '192.0.0.1', '64:ff9b::808:808'],
  ],
  reserved: [
    ...['169.254.169.254', '169.254.1.1', '0.0.0.0', '0.1.2.3', '224.0.0.251', '255.255.255.255'],
    ...['fe80::1', 'fe80::1%eth0', 'ff02::fb', '::', 'fd00:ec2::254', '100.100.100.200'],
    ...['::ffff:169.254.169.254', '::ffff:a9fe:a9fe', 'fd20:ce::254', '64:ff9b::a9fe:a9fe'],
    ...['168.63.129.16', '192.0.0.192', '64:ff9b::169.254.169.254'],
  ],
};

for (const [scope, addresses] of Object.entries(scopes)) {
  void t.test(`these addresses are ${scope}`, (t) => {
    for (const address of addresses) t.equal(findAddressScope(address), scope, address);
    t.end();
  });
}

void t.test('a host name has no scope', (t) => {
  for (const name of ['localhost', 'example.com', '', '1.2.3', '1.2.3.4.5']) {
    t.equal(findAddressScope(name), undefined, name);
  }
  t.end();
});
