import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { SHARED_CSS } from '../../../report-kit/page.ts';
import { FRAME_CSS } from './style.ts';

const STYLESHEET = `${SHARED_CSS}${FRAME_CSS}`;
const FINGERPRINT = createHash('sha256').update(STYLESHEET).digest('hex').slice(0, 16);

/** Path of the stylesheet of all pages. It changes with the content, so that browsers keep the file. */
export const STYLESHEET_PATH = `/assets/${FINGERPRINT}.css`;

const YEAR_S = 31_536_000;

/**
 * Adds the stylesheet. It needs no key, because every copy of the kit contains it. A page of another version,
 * from another replica, gets this one, but does not keep it.
 */
export function addStylesheetRoute(app: FastifyInstance): void {
  app.get<{ Params: { fingerprint: string } }>(
    '/assets/:fingerprint.css',
    ({ params: { fingerprint } }, reply) => {
      const isOwn = fingerprint === FINGERPRINT;
      return reply
        .header('cache-control', isOwn ? `public, max-age=${YEAR_S}, immutable` : 'no-store')
        .header('x-content-type-options', 'nosniff')
        .type('text/css; charset=utf-8')
        .send(STYLESHEET);
    },
  );
}
