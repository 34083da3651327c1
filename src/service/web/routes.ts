import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TranscriptOptions } from '../operations/transcripts.ts';
import { addAgentRoutes } from './agents/routes.ts';
import { showErrorsAsPages } from './frame/errors.ts';
import { collectFormPaths } from './frame/form-paths.ts';
import { acceptForms } from './frame/forms.ts';
import { createLiveUpdates } from './frame/live.ts';
import { addSignInRoutes } from './frame/sign-in.ts';
import { createViewers, type PageOptions } from './frame/viewer.ts';
import { addEvalRoutes, type EvalPageOptions } from './evals/routes.ts';
import { addKeyRoutes } from './keys/routes.ts';
import { addOpenApiRoute } from './openapi.ts';
import { addCompareRoutes } from './compare/routes.ts';
import { addOverviewRoutes } from './overview/routes.ts';
import { addRunRoutes } from './runs/routes.ts';
import { addScenarioRoutes } from './scenarios/routes.ts';
import { addSessionRoutes } from './sessions/routes.ts';
import { addSettingsRoutes, type SettingsPageOptions } from './settings/routes.ts';
import { addTranscriptRoutes } from './transcripts/routes.ts';

/** What the pages need of the other parts of the service. */
type PageParts = Omit<PageOptions, 'findViewer' | 'findOwners' | 'findEditor' | 'live'> &
  SettingsPageOptions &
  EvalPageOptions &
  TranscriptOptions;

/** Adds the pages of the service. */
export function addPageRoutes(
  app: FastifyInstance,
  parts: PageParts & {
    /** Returns the id of the owner that the query names, or of the default owner. */
    findOwner: (request: FastifyRequest) => Promise<string>;
    /** Logs an error that no page expected. */
    logServerError: (method: string, error: unknown) => void;
    /** Aborts when the service stops. */
    stopping: AbortSignal;
  },
): void {
  acceptForms(app, parts.authentication);
  showErrorsAsPages(app, parts.logServerError);
  const options = {
    ...parts,
    ...createViewers(parts, parts.findOwner),
    live: createLiveUpdates({
      stopping: parts.stopping,
      checkReader: ({ headers }) => parts.authentication.authenticateReader(headers),
    }),
  };
  const addFormPaths = collectFormPaths(app, options);
  addSignInRoutes(app, options);
  addOpenApiRoute(app, options);
  addOverviewRoutes(app, options);
  addSessionRoutes(app, options);
  addRunRoutes(app, options);
  addCompareRoutes(app, options);
  addAgentRoutes(app, options);
  addScenarioRoutes(app, options);
  addEvalRoutes(app, options);
  addSettingsRoutes(app, options);
  addKeyRoutes(app, options);
  addTranscriptRoutes(app, options);
  addFormPaths();
}
