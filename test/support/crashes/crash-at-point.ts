/**
 * Kills its process at the pass CRASH_PASS of the point CRASH_POINT. Loaded with `node --import`, also in
 * threads, which count their own passes. Wraps the drivers of both databases, so that the sources need
 * no fault injection, and every statement that they run is seen.
 */
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { CRASH_PASS, CRASH_POINT, crashPoints } from './crash-points.ts';

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

const point = crashPoints[process.env[CRASH_POINT] ?? ''];
const lastPass = Number(process.env[CRASH_PASS]);
let passes = 0;

/** The statements of the open transaction of each connection. */
const transactions = new WeakMap<object, string[]>();

/** Returns whether a statement passes the point. Call it before the statement, once. */
function isAtPoint(connection: object, text: string): boolean {
  const statement = text.trim().toLowerCase();
  if (/^begin\b/.test(statement)) transactions.set(connection, []);
  const earlier = transactions.get(connection) ?? [];
  const isMatch =
    point?.statement.test(statement) === true &&
    (!point.transaction || earlier.some((each) => point.transaction?.test(each)));
  earlier.push(statement);
  if (/^(commit|rollback)$/.test(statement)) transactions.delete(connection);
  return isMatch;
}

/** Kills the process if it is the last pass; the statement is then complete, or has not begun. */
function pass(when: 'before' | 'after', isMatch: boolean): void {
  if (!isMatch || point?.when !== when) return;
  passes += 1;
  if (passes === lastPass) process.kill(process.pid, 'SIGKILL');
}

/** Replaces a method by one that also passes the point. */
function wrap(target: object, name: string, textOf: (first: unknown) => string) {
  const original = Reflect.get(target, name) as AnyFunction;
  const connectionOf = (self: object): object =>
    'database' in self && self.database instanceof Object ? self.database : self;
  const wrapped: AnyFunction = function (...args) {
    const self = this as object;
    const isMatch = isAtPoint(connectionOf(self), textOf(args[0]));
    pass('before', isMatch);
    const last = args.at(-1);
    if (typeof last === 'function') {
      const callback = last as AnyFunction;
      const report: AnyFunction = function (...results) {
        const [error] = results;
        if (!error) pass('after', isMatch);
        return Reflect.apply(callback, this, results);
      };
      args.splice(-1, 1, report);
    }
    const result = Reflect.apply(original, self, args);
    if (result instanceof Promise) {
      return result.then((value: unknown) => {
        pass('after', isMatch);
        return value;
      });
    }
    if (typeof last !== 'function') pass('after', isMatch);
    return result;
  };
  Reflect.set(target, name, wrapped);
}

const firstText = (first: unknown): string =>
  typeof first === 'string' ? first : String((first as { text?: unknown }).text);

const prepare = Reflect.get(Sqlite.prototype, 'prepare') as AnyFunction;
const prepareWrapped: AnyFunction = function (...args) {
  const statement = Reflect.apply(prepare, this, args) as object;
  for (const name of ['run', 'get', 'all', 'iterate']) wrap(statement, name, () => String(args[0]));
  return statement;
};
Reflect.set(Sqlite.prototype, 'prepare', prepareWrapped);
for (const name of ['exec', 'pragma']) wrap(Sqlite.prototype, name, firstText);
wrap(pg.Client.prototype, 'query', firstText);
