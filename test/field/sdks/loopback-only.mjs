/** Preloaded by all programs: some SDKs call home, and tests connect to this machine only. */
import dns from 'node:dns';
import net from 'node:net';

const isLoopback = (host) => host === 'localhost' || /^127\.|^::1$/.test(host);

const { lookup } = dns;
dns.lookup = (host, ...rest) => {
  if (isLoopback(host)) return lookup(host, ...rest);
  const error = Object.assign(new Error(`Not a loopback address: ${host}`), { code: 'ENOTFOUND' });
  return process.nextTick(rest.at(-1), error);
};

const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (...parameters) {
  const [options] = parameters.flat();
  const host = options?.host ?? 'localhost';
  if (net.isIP(host) && !isLoopback(host)) throw new Error(`Not a loopback address: ${host}`);
  return connect.apply(this, parameters);
};
