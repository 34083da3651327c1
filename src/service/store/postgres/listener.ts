import pg from 'pg';
import { systemClock } from '../../../platform/clock.ts';
import { parseDatabaseUrl } from './database-url.ts';

/** A connection that receives notifications. */
export interface Listener {
  close: () => Promise<void>;
}

/** What a listener does with a notification. */
export interface ListenerOptions {
  channel: string;
  onNotification: (payload: string) => void;
  /** Called after each connect: notifications from before it are lost. */
  onConnected: () => void;
}

const RECONNECT_MS = 1_000;
const CONNECT_MS_MAX = 5_000;

/**
 * Listens to a channel on a dedicated connection, because a pool closes unused connections. A broken
 * connection is replaced after a second; what is published meanwhile is lost.
 */
export function openListener(databaseUrl: string, options: ListenerOptions): Listener {
  const stopping = new AbortController();
  const address = parseDatabaseUrl(databaseUrl);
  let current: pg.Client | undefined;
  const listen = async (): Promise<void> => {
    const client = new pg.Client({
      ...address,
      application_name: 'sandbox-kit listener',
      connectionTimeoutMillis: CONNECT_MS_MAX,
      keepAlive: true,
    });
    current = client;
    const ended = Promise.withResolvers<undefined>();
    client.on('error', () => ended.resolve(undefined));
    client.on('end', () => ended.resolve(undefined));
    client.on('notification', ({ payload = '' }) => options.onNotification(payload));
    try {
      await client.connect();
      await client.query(`listen ${options.channel}`);
      options.onConnected();
      await ended.promise;
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await listen().catch(() => undefined);
      await systemClock.sleep(RECONNECT_MS, stopping.signal).catch(() => undefined);
    }
  };
  const running = run();
  return {
    async close() {
      stopping.abort();
      await current?.end().catch(() => undefined);
      await running;
    },
  };
}
