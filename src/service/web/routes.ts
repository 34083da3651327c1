import type { FastifyInstance } from 'fastify';
import type { PageAuthentication } from '../requests/authentication.ts';
import type { BrowserCalls } from '../operations/browser-calls.ts';
import type { TranscriptOptions } from '../operations/transcripts.ts';
import type { Store } from '../store/store.ts';
import { addCallRoutes } from './agents/call-routes.ts';
import { addPlaygroundRoutes, type PlaygroundOptions } from './agents/playground-routes.ts';
import type { AgentPageOptions } from './agents/load-agent-page.ts';
import { addAgentRoutes } from './agents/routes.ts';
import { addCompareRoutes } from './compare/routes.ts';
import { addDeepLinkRoutes } from './deep-links/routes.ts';
import { addEvalRoutes, type EvalPageOptions } from './evals/routes.ts';
import { showErrorsAsPages } from './frame/errors.ts';
import { collectFormPaths } from './frame/form-paths.ts';
import { createFormResults } from './frame/form-results.ts';
import { acceptForms } from './frame/forms.ts';
import { createLiveUpdates } from './frame/live.ts';
import { createPages, type PageQueue } from './frame/pages.ts';
import { acceptSockets } from './frame/sockets.ts';
import { addSignInRoutes } from './frame/sign-in.ts';
import { addStylesheetRoute } from './frame/stylesheet.ts';
import { createViewers, type ViewerOptions } from './frame/viewer.ts';
import { addKeyRoutes } from './keys/routes.ts';
import { addOpenApiRoute } from './openapi.ts';
import { addOverviewRoutes, type OverviewOptions } from './overview/routes.ts';
import { addRequirementRoutes } from './requirements/routes.ts';
import { addRunRoutes, type RunRouteOptions } from './runs/routes.ts';
import { addScenarioRoutes } from './scenarios/routes.ts';
import { addSearchRoutes } from './search/routes.ts';
import { addSessionRoutes, type SessionPageOptions } from './sessions/routes.ts';
import { addSettingsRoutes, type SettingsPageOptions } from './settings/routes.ts';
import { addTranscriptRoutes } from './transcripts/routes.ts';

/** What the pages need of the other parts of the service. */
export interface PageParts
  extends
    Pick<ViewerOptions, 'apiKeyHeader' | 'findOwner'>,
    Pick<OverviewOptions, 'rejectedRequests' | 'acceptedTraces' | 'sdkSettings' | 'solutions'>,
    Pick<SessionPageOptions, 'close'>,
    Pick<RunRouteOptions, 'simulations' | 'clock'>,
    Pick<AgentPageOptions, 'kit'>,
    Pick<EvalPageOptions, 'runDry'>,
    Pick<SettingsPageOptions, 'backlog' | 'findWarnings' | 'hasJudge'>,
    Pick<TranscriptOptions, 'wake'> {
  store: Store;
  authentication: PageAuthentication;
  agentTests: AgentPageOptions['tests'];
  sendChat: PlaygroundOptions['sendChat'];
  browserCalls: BrowserCalls;
  queues: { pages: PageQueue };
  /** Logs an error that no page expected. */
  logServerError: (method: string, error: unknown) => void;
  /** Aborts when the service stops. */
  stopping: AbortSignal;
}

/** Adds the pages of the service. */
export function addPageRoutes(app: FastifyInstance, parts: PageParts): void {
  const { store, clock, authentication, apiKeyHeader, simulations, kit } = parts;
  acceptForms(app, authentication);
  showErrorsAsPages(app, parts.logServerError);
  const live = createLiveUpdates({
    stopping: parts.stopping,
    checkReader: ({ headers }) => authentication.authenticateReader(headers),
  });
  const viewers = createViewers({ ...parts, owners: store.owners });
  const results = createFormResults({ store, clock });
  const pages = createPages(app, viewers, { live, results, queue: parts.queues.pages });
  const addFormPaths = collectFormPaths(pages);
  addSignInRoutes(app, { authentication, clock });
  addStylesheetRoute(app);
  addOpenApiRoute(app, { apiKeyHeader });
  const { rejectedRequests, acceptedTraces, sdkSettings, solutions } = parts;
  addOverviewRoutes(pages, {
    store,
    simulations,
    clock,
    apiKeyHeader,
    rejectedRequests,
    acceptedTraces,
    sdkSettings,
    solutions,
  });
  addSearchRoutes(pages, store);
  addDeepLinkRoutes(pages, { store, simulations });
  addSessionRoutes(pages, { store, clock, close: parts.close });
  addRunRoutes(pages, { store, simulations, clock });
  addCompareRoutes(pages, { store, simulations });
  addAgentRoutes(pages, { store, simulations, clock, kit, tests: parts.agentTests });
  const { sendChat, stopping, wake } = parts;
  addPlaygroundRoutes(pages, { store, clock, sendChat, kit, stopping, wake });
  addRequirementRoutes(pages, kit);
  addCallRoutes(pages, acceptSockets(app, viewers), { store, browserCalls: parts.browserCalls });
  addScenarioRoutes(pages, { store, simulations, kit });
  addEvalRoutes(pages, { store, runDry: parts.runDry });
  const { backlog, findWarnings, hasJudge } = parts;
  addSettingsRoutes(pages, { store, clock, backlog, findWarnings, hasJudge });
  addKeyRoutes(pages, { owners: store.owners, clock, apiKeyHeader });
  addTranscriptRoutes(pages, { store, clock, wake });
  addFormPaths();
}
