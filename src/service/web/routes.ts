import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addAgentRoutes } from './agents/routes.ts';
import { showErrorsAsPages } from './frame/errors.ts';
import { acceptForms } from './frame/forms.ts';
import { createLiveUpdates } from './frame/live.ts';
import { addSignInRoutes } from './frame/sign-in.ts';
import { createViewers, type PageOptions } from './frame/viewer.ts';
import { addOpenApiRoute } from './openapi.ts';
import { addOverviewRoutes } from './overview/routes.ts';

import { addRunRoutes } from './runs/routes.ts';
import { addScenarioRoutes } from './scenarios/routes.ts';
import { addSessionRoutes } from './sessions/routes.ts';

/** Adds the pages of the service. */
export function addPageRoutes(
  app: FastifyInstance,
  parts: Omit<PageOptions, 'findViewer' | 'findOwners' | 'findEditor' | 'live'> & {
    /** Returns the id of the owner that the query names, or of the default owner. */
    findOwner: (request: FastifyRequest) => Promise<string>;
    /** Aborts when the service stops. */
    stopping: AbortSignal;
  },
): void {
  acceptForms(app);
  showErrorsAsPages(app);
  const options: PageOptions = {
    ...parts,
    ...createViewers(parts, parts.findOwner),
    live: createLiveUpdates(parts.stopping),
  };
  addSignInRoutes(app, options);
  addOpenApiRoute(app, options);
  addOverviewRoutes(app, options);
  addSessionRoutes(app, options);
  addRunRoutes(app, options);
  addAgentRoutes(app, options);
  addScenarioRoutes(app, options);
}
