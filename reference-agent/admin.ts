import type { FastifyInstance } from 'fastify';
import { rejectFault, rejectFaults } from '../src/http-kit/faults.ts';
import type { Authentication } from './authentication.ts';
import type { AgentControls } from './controls.ts';
import { withTypeError } from './errors.ts';
import type { FaultInjector } from './fault-injector.ts';
import { findFaultProblem, parseFaultList, toFault } from './faults.ts';
import { formatAgentEntry, type AgentJournal } from './journal.ts';
import type { VoiceServer } from './voice/voice-server.ts';

/** The parts of an agent that the test controls change. */
export interface ControlOptions {
  faults: FaultInjector;
  journal: AgentJournal;
  voice: VoiceServer | undefined;
  /** Restores the state at the start: no users, an empty journal, the faults of the options. */
  reset: () => void;
}

/** Creates the test controls of an agent. */
export function createControls({ faults, journal, voice, reset }: ControlOptions): AgentControls {
  return {
    setFaults(values) {
      rejectFaults('setFaults', values, findFaultProblem);
      faults.setAdmin(values);
    },
    addFault(fault) {
      rejectFault('addFault', fault, findFaultProblem);
      withTypeError('addFault', () => faults.addAdmin(fault));
    },
    clearFaults: () => faults.setAdmin([]),
    faults: () => faults.list(),
    requests: () => journal.entries().map(formatAgentEntry),
    clearRequests: () => journal.clear(),
    calls: () => voice?.calls() ?? { open: 0, calls: [] },
    reset,
  };
}

/**
 * The routes under `/__admin`: test controls that are not part of the interface. The journal does
 * not record them.
 */
export function addAdminRoutes(
  app: FastifyInstance,
  {
    authentication,
    faults,
    journal,
    controls,
  }: Pick<ControlOptions, 'faults' | 'journal'> & {
    authentication: Authentication;
    controls: AgentControls;
  },
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    authentication.checkAdmin(request);
    done();
  });
  const listFaults = (): object => ({ faults: controls.faults() });

  app.get('/health', () => ({ status: 'healthy' }));
  app.get('/ready', () => ({ ready: true }));

  app.get('/requests', () => ({
    total: journal.totals().requests,
    requests: controls.requests(),
  }));
  app.delete('/requests', () => {
    controls.clearRequests();
    return { cleared: true };
  });

  app.get('/calls', () => controls.calls());

  app.get('/faults', listFaults);
  // Errors in a request name places by JSON pointer, and those of the handle by property.
  app.put('/faults', ({ body }) => {
    faults.setAdmin(parseFaultList(body));
    return listFaults();
  });
  app.post('/faults', ({ body }) => {
    faults.addAdmin(toFault(body));
    return listFaults();
  });
  app.delete('/faults', () => {
    controls.clearFaults();
    return listFaults();
  });

  app.post('/reset', () => {
    controls.reset();
    return { reset: true };
  });
}
