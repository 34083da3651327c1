import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import {
  sandboxRoutes,
  schemas,
  type ChatRequest,
  type Route,
  type UserCreateRequest,
} from '../src/contract/index.ts';
import { createEntry, journalRequests } from '../src/http-kit/journal.ts';
import { describeUnknownRoute, toRoutePattern } from '../src/http-kit/server.ts';
import type { Clock } from '../src/platform/clock.ts';
import type { Log } from '../src/platform/log.ts';
import { addAdminRoutes, createControls } from './admin.ts';
import type { Authentication } from './authentication.ts';
import type { Chat } from './chat.ts';
import type { AgentControls } from './controls.ts';
import { RequestError } from './errors.ts';
import { addDocumentRoutes, isPageRequest, sendUnknownPage } from './documents.ts';
import { createFaultHook } from './fault-hook.ts';
import type { FaultInjector } from './fault-injector.ts';
import type { FaultRoute } from './faults.ts';
import type { HealthCheck } from './health.ts';
import { truncateBody, type AgentJournal } from './journal.ts';
import type { ScriptPlayer } from './script-player.ts';
import { allowOnly, createAgentServer } from './server.ts';
import type { KeyPair } from '../src/http-kit/self-signed.ts';
import type { Users } from './users.ts';
import { VOICE_PATH, VOICE_PROTOCOL } from './voice/upgrade.ts';
import type { VoiceServer } from './voice/voice-server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The response body, when the journal stores bodies. */
    responseText: string | undefined;
  }
}

/** The parts of an agent. */
export interface AgentParts {
  clock: Clock;
  log: Log;
  chat: Chat;
  authentication: Authentication;
  users: Users;
  faults: FaultInjector;
  journal: AgentJournal;
  journalBodies: boolean;
  health: HealthCheck;
  script: ScriptPlayer | undefined;
  voice: VoiceServer | undefined;
  keyPair: KeyPair | undefined;
  /** Waits this many milliseconds, or until the agent stops. */
  pause: (ms: number) => Promise<void>;
}

/** An agent that is ready to listen. */
export interface Agent {
  app: FastifyInstance;
  controls: AgentControls;
}

/** Builds the HTTP server of the agent with all its routes (spec 4.5 to 4.8), and attaches voice. */
export function buildAgent(parts: AgentParts): Agent {
  const { users, faults, journal, script, authentication, voice } = parts;
  const app = createAgentServer(parts.log, parts.keyPair);
  app.decorateRequest('responseText');
  app.decorateRequest('healthStatus', 'healthy');
  void app.register((api, _options, registered) => {
    addInterfaceRoutes(api, parts);
    registered();
  });

  void app.register((documents, _options, registered) => {
    const isSecure = parts.keyPair !== undefined;
    addDocumentRoutes(documents, { authentication, hasVoice: voice !== undefined, isSecure });
    registered();
  });

  const reset = (): void => {
    for (const part of [users, journal, voice]) part?.clear();
    faults.reset();
    script?.reset();
  };
  const controls = createControls({ faults, journal, voice, reset });
  void app.register(
    (admin, _options, registered) => {
      addAdminRoutes(admin, { authentication, faults, journal, controls });
      registered();
    },
    { prefix: '/__admin' },
  );
  voice?.attach(app.server);
  return { app, controls };
}

function addInterfaceRoutes(api: FastifyInstance, parts: AgentParts): void {
  const { chat, users, health, clock, pause, authentication, voice } = parts;
  const onDropped = (request: FastifyRequest, reply: FastifyReply): void =>
    recordRequest(parts, request, reply);
  const faultHookOptions = { ...parts, onDropped };
  const requireKey = (route: FaultRoute): onRequestHookHandler => {
    const injectFaults = createFaultHook(faultHookOptions, route);
    return (request, reply, done) => {
      authentication.checkKey(request);
      injectFaults(request, reply, done);
    };
  };

  recordRequests(api, parts);
  api.addHook('onRequest', (request, _reply, done) => {
    authentication.checkOrigin(request);
    done();
  });
  api.setNotFoundHandler((request, reply) => {
    if (isPageRequest(request)) return sendUnknownPage(reply);
    throw new RequestError('not_found', describeUnknownRoute(request));
  });

  api.post<{ Body: ChatRequest }>(
    '/v1/chat/completions',
    { schema: { body: schemas.ChatRequest }, onRequest: requireKey('chat') },
    ({ body, startedMs }) => {
      const { delayMs, createResponse } = chat(body);
      const respond = (): object => createResponse(clock.monotonicMs() - startedMs);
      return delayMs > 0 ? pause(delayMs).then(respond) : respond();
    },
  );
  api.get(
    '/health',
    { onRequest: createFaultHook(faultHookOptions, 'health') },
    ({ healthStatus }, reply) => {
      reply.code(healthStatus === 'unhealthy' ? 503 : 200);
      return health(healthStatus);
    },
  );
  api.post<{ Body: UserCreateRequest }>(
    '/users',
    { schema: { body: schemas.UserCreateRequest }, onRequest: requireKey('users') },
    ({ body }, reply) => reply.code(201).send(users.create(body)),
  );
  api.delete<{ Params: { user_id: string } }>(
    '/users/:user_id',
    { onRequest: requireKey('users') },
    ({ params }) => users.delete(params.user_id),
  );

  if (voice) requireUpgrade(api, VOICE_PATH);
  for (const { method, path } of Object.values<Route>(sandboxRoutes)) {
    allowOnly(api, toRoutePattern(path), method === 'GET' ? ['GET', 'HEAD'] : [method]);
  }
}

/** Records every request to the routes of the interface in the journal. */
function recordRequests(api: FastifyInstance, parts: AgentParts): void {
  if (parts.journalBodies) {
    api.addHook('onSend', (request, _reply, payload, done) => {
      if (typeof payload === 'string') request.responseText = payload;
      done();
    });
  }
  journalRequests(api, parts.clock, (request, reply) => recordRequest(parts, request, reply));
}

function recordRequest(parts: AgentParts, request: FastifyRequest, reply: FastifyReply): void {
  const { clock, journal, journalBodies } = parts;
  journal.record({
    ...createEntry(clock, request, reply),
    responseBytes: Number(reply.getHeader('content-length') ?? 0),
    requestBody: journalBodies ? truncateBody(request.bodyText) : undefined,
    responseBody: journalBodies ? truncateBody(request.responseText) : undefined,
  });
}

/** Rejects plain HTTP requests to a WebSocket. */
function requireUpgrade(api: FastifyInstance, url: string): void {
  api.get(url, () => {
    const message = `This is a WebSocket. Request an upgrade with the subprotocol ${VOICE_PROTOCOL}.`;
    const headers = { upgrade: 'websocket', connection: 'Upgrade' };
    throw new RequestError('upgrade_required', message, headers);
  });
  allowOnly(api, url, ['GET', 'HEAD']);
}
