import type { FastifyInstance } from 'fastify';
import type { Authentication } from './authentication.ts';
import { parseFaultList, toFault, type FaultInjector } from './faults.ts';
import { formatAgentEntry, type AgentJournal } from './journal.ts';
import type { VoiceServer } from './voice/voice-server.ts';

export interface AdminOptions {
  authentication: Authentication;
  faults: FaultInjector;
  journal: AgentJournal;
  voice: VoiceServer | undefined;
  /** Restores the state at the start: no users, an empty journal, the faults of the options. */
  reset: () => void;
}

/**
 * The routes under `/__admin`: test controls that are not part of the interface. The journal does
 * not record them.
 */
export function addAdminRoutes(app: FastifyInstance, options: AdminOptions): void {
  const { authentication, faults, journal, voice, reset } = options;
  app.addHook('onRequest', (request, _reply, done) => {
    authentication.checkAdmin(request);
    done();
  });
  const listFaults = (): object => ({ faults: faults.list() });

  app.get('/health', () => ({ status: 'healthy' }));
  app.get('/ready', () => ({ ready: true }));

  app.get('/requests', () => ({
    total: journal.totals().requests,
    requests: journal.entries().map(formatAgentEntry),
  }));
  app.delete('/requests', () => {
    journal.clear();
    return { cleared: true };
  });

  app.get('/calls', () => voice?.calls() ?? { open: 0, calls: [] });

  app.get('/faults', listFaults);
  app.put('/faults', ({ body }) => {
    faults.setAdmin(parseFaultList(body));
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
    reset();
    return { reset: true };
  });
}
