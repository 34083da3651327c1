import { Socket as UdpSocket } from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { isLoopbackHost } from '../../../src/platform/loopback.ts';

type AnyFunction = (this: never, ...parameters: unknown[]) => unknown;

/**
 * Keeps this process from reaching any other machine, regardless of the inputs: connections and
 * look-ups are refused, and packets are dropped.
 */
export function allowOnlyLoopback(): void {
  replace(Socket.prototype, 'connect', (connect) => {
    return function (this: Socket, ...parameters) {
      const host = readHost(parameters);
      if (host === undefined || isLoopbackHost(host))
        return Reflect.apply(connect, this, parameters) as unknown;
      process.nextTick(() => this.destroy(refuse(host)));
      return this;
    };
  });
  replace(UdpSocket.prototype, 'send', (send) => {
    return function (this: UdpSocket, ...parameters) {
      const [, ...rest] = parameters;
      const host = rest.find((each) => typeof each === 'string');
      if (host === undefined || isLoopbackHost(host))
        return Reflect.apply(send, this, parameters) as unknown;
      const done = rest.at(-1);
      if (typeof done === 'function') process.nextTick(done);
      return undefined;
    };
  });
  replace(dns, 'lookup', (lookup) => {
    return function (...parameters) {
      const [host, done] = [String(parameters[0]), parameters.at(-1)];
      if (isLoopbackHost(host)) return Reflect.apply(lookup, this, parameters);
      process.nextTick(done as (error: Error) => void, refuse(host));
      return undefined;
    };
  });
  replace(dns.promises, 'lookup', (lookup) => {
    return function (...parameters) {
      const host = String(parameters[0]);
      return isLoopbackHost(host)
        ? Reflect.apply(lookup, this, parameters)
        : Promise.reject(refuse(host));
    };
  });
  syncBuiltinESMExports();
}

function replace(holder: object, name: string, wrap: (original: AnyFunction) => AnyFunction): void {
  const methods = holder as Record<string, AnyFunction>;
  const original = methods[name];
  if (!original) throw new Error(`There is no ${name} to replace.`);
  methods[name] = wrap(original);
}

/** Returns the host that `connect` of a socket gets, in each of its forms; undefined for a path. */
function readHost(parameters: readonly unknown[]): string | undefined {
  // `net.connect` passes its own parameters as one array.
  const [first, second] = Array.isArray(parameters[0]) ? (parameters[0] as unknown[]) : parameters;
  if (typeof first === 'object' && first !== null) {
    const { path, host } = first as { path?: string | null; host?: string };
    return typeof path === 'string' ? undefined : (host ?? 'localhost');
  }
  if (typeof first === 'string' && Number.isNaN(Number(first))) return undefined;
  return typeof second === 'string' ? second : 'localhost';
}

const refuse = (host: string): Error =>
  Object.assign(new Error(`connect ECONNREFUSED ${host}`), {
    code: 'ECONNREFUSED',
    syscall: 'connect',
  });
