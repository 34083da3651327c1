import type { FastifyRequest } from 'fastify';
import type { PageContext } from './page-frame.ts';

/** The owner whose data a request may see, and the reader of its pages. */
export interface Viewer {
  ownerId: string;
  context: PageContext;
}

/** Finds the owner whose data a request may see. @throws RequestError if it may see no data. */
export type FindViewer = (request: FastifyRequest) => Promise<Viewer>;
