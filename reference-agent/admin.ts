import type { FastifyInstance } from 'fastify';
import { toFault, toFaults, type FaultInjector } from './faults.ts';
import type { Authentication } from './authentication.ts';
import type { Journal } from './journal.ts';
import type { VoiceServer } from './voice/voice-server.ts';

/** What `/__admin` works on. */
export interface AdminDeps {
  authentication: Authentication;
  faults: FaultInjector;
  journal: Journal;
  voice: VoiceServer | undefined;
  /** Back to the state at the start: no users, no requests seen, the faults of the options. */
  reset: () => void;
}

/**
 * The routes under `/__admin`, which are ours and no part of the interface: what a test needs to
 * see and set. They are not journalled, so that looking changes nothing.
 */
export function adminRoutes(app: FastifyInstance, deps: AdminDeps): void {
  const { authentication, faults, journal, voice } = deps;
  app.addHook('onRequest', (request, _reply, done) => {
    authentication.checkAdmin(request);
    done();
  });
  const listFaults = (): object => ({ faults: faults.list() });

  app.get('/health', () => ({ status: 'healthy' }));
  app.get('/ready', () => ({ ready: true }));

  app.get('/requests', () => ({ seen: journal.traffic().answered, requests: journal.entries() }));
  app.delete('/requests', () => {
    journal.clear();
    return { cleared: true };
  });

  app.get('/calls', () => voice?.calls() ?? { open: 0, calls: [] });

  app.get('/faults', listFaults);
  app.put('/faults', ({ body }) => {
    faults.setAdmin(toFaults(body));
    return listFaults();
  });
  app.post('/faults', ({ body }) => {
    faults.addAdmin(toFault(body));
    return listFaults();
  });
  app.delete('/faults', () => {
    faults.setAdmin([]);
    return listFaults();
  });

  app.post('/reset', () => {
    deps.reset();
    return { reset: true };
  });
}
