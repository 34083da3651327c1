import type { FastifyRequest } from 'fastify';
import type { PageContext } from './page-frame.ts';

/** Whose data a request may see, and for whom its pages are made. */
export interface Viewer {
  ownerId: string;
  context: PageContext;
}

/** Finds whose data a request may see. @throws RequestError if it may see none. */
export type FindViewer = (request: FastifyRequest) => Promise<Viewer>;
