/**
 * Reports whether your agent can work. The service asks before each simulation, and starts no
 * simulation while the sandbox is unhealthy. Replace the checks with your own.
 *
 * @import { Health } from 'sandbox-kit'
 */

const VERSION = '1.0.0';

/** The service gives up after 10 s and expects a response within 2 s (spec 8). */
const CHECK_MS_MAX = 1_500;

/**
 * The dependencies of your agent: `database`, `llm_service`, and `external_apis` (spec 2.10).
 *
 * @type {Record<string, (signal: AbortSignal) => Promise<boolean>>}
 */
const dependencies = {
  // For example: async (signal) => (await fetch(`${MODEL_URL}/models`, { signal })).ok
  llm_service: async () => true,
};

/** @returns {Promise<Health>} */
export async function readHealth() {
  const states = await Promise.all(
    Object.entries(dependencies).map(async ([name, isHealthy]) => {
      const isUp = await isHealthy(AbortSignal.timeout(CHECK_MS_MAX)).catch(() => false);
      return /** @type {const} */ ([name, isUp ? 'healthy' : 'unhealthy']);
    }),
  );
  const down = states.filter(([, state]) => state === 'unhealthy').map(([name]) => name);
  return {
    status: down.length === 0 ? 'healthy' : 'unhealthy',
    timestamp: new Date().toISOString(),
    version: VERSION,
    uptime: Math.floor(process.uptime()), // An integer, in seconds.
    dependencies: Object.fromEntries(states),
    // Only an unhealthy sandbox has an error (spec 2.10).
    ...(down.length > 0 && {
      error: { message: 'A dependency does not respond.', details: down.join(', ') },
    }),
  };
}
