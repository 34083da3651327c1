import { HEALTH_TIMEOUT_MS, readAgentVersion } from '../../../contract/index.ts';
import { systemClock } from '../../../platform/clock.ts';
import type { AgentHealth } from '../../operations/simulations.ts';
import { SessionError } from '../session-error.ts';
import { PAGE_CURES } from './cures.ts';
import { explainHealth, HEALTH_REQUEST, openHttp } from './sandbox-http.ts';

/** Sends one `GET /health`, which reaches no model, and returns what would keep sessions from starting. */
export async function readHealth(url: string, signal: AbortSignal): Promise<AgentHealth> {
  const http = openHttp({ url, connections: 1, clock: systemClock });
  try {
    const response = await http.send(HEALTH_REQUEST, HEALTH_TIMEOUT_MS, signal);
    const problem = explainHealth(response, PAGE_CURES);
    const agentVersion = readAgentVersion(response.json);
    return {
      ...(problem !== undefined && { problem }),
      ...(agentVersion !== undefined && { agentVersion }),
    };
  } catch (error) {
    if (error instanceof SessionError) return { problem: error.message };
    throw error;
  } finally {
    await http.close();
  }
}
