import { isLoopbackHost } from '../src/platform/loopback.ts';
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { RequestError } from './errors.ts';

/** A request, of which its headers say who sent it. */
type Request = Pick<IncomingMessage, 'headers'>;

/** Who may do what. */
export interface Authentication {
  /** @throws RequestError `unauthorized` when the agent has a key and the request does not carry it. */
  checkKey(request: Request): void;
  /** @throws RequestError `forbidden` or `unauthorized` for a request that may not use `/__admin`. */
  checkAdmin(request: Request): void;
  /** Whether the request may choose its own fault; where not, its fault header means nothing. */
  mayInjectFault(request: Request): boolean;
}

/** A gate for an agent that listens on `host`, with the key it wants, or null for none. */
export function createAuthentication(options: {
  host: string;
  apiKey: string | null;
}): Authentication {
  const { host, apiKey } = options;
  const wanted = apiKey === null ? null : digest(`Bearer ${apiKey}`);
  // Digests have one length whatever was sent, so the comparison tells nothing by its time.
  const holdsKey = ({ headers }: Request): boolean =>
    wanted !== null &&
    timingSafeEqual(digest((headers.authorization ?? '').replace(/^bearer +/i, 'Bearer ')), wanted);
  const local = isLoopbackHost(host);

  const checkKey = (request: Request): void => {
    if (wanted === null || holdsKey(request)) return;
    throw new RequestError(
      'unauthorized',
      'Authorization must be Bearer with the key of this agent',
      {
        'www-authenticate': 'Bearer',
      },
    );
  };
  return {
    checkKey,
    checkAdmin(request) {
      if (local) {
        checkLocal(request);
        return;
      }
      if (wanted === null) {
        throw new RequestError(
          'forbidden',
          '/__admin needs an agent on loopback or one with a key',
        );
      }
      checkKey(request);
    },
    mayInjectFault: (request) => (local && isLocalHost(request.headers.host)) || holdsKey(request),
  };
}

/**
 * A page in a browser of this machine must not get in: its name that leads here shows in Host, and
 * where it comes from in Origin.
 */
function checkLocal({ headers }: Request): void {
  if (!isLocalHost(headers.host)) {
    throw new RequestError(
      'forbidden',
      'Host must name this machine: localhost or a loopback address',
    );
  }
  const { origin } = headers;
  if (origin !== undefined && !origin.endsWith(`://${headers.host ?? ''}`)) {
    throw new RequestError('forbidden', 'a page of another origin may not use /__admin');
  }
}

function isLocalHost(host: string | undefined): boolean {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(host ?? '') ?? [];
  return isLoopbackHost(name.replace(/^\[|\]$/g, '').toLowerCase());
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
