/** The servers that a command has started. */
export interface RunningServers {
  /** Adds a server that has started, and returns it. */
  add: <Server extends Stoppable | undefined>(server: Server) => Server;
  /** Stops all servers, the last one first, even if one of them can't be stopped. */
  stop: () => Promise<void>;
}

interface Stoppable {
  stop: () => Promise<void>;
}

/**
 * Creates an empty set of servers. Each server is added as soon as it has started, so that it is
 * stopped even if the next one can't start: it would otherwise keep the process alive.
 */
export function createRunningServers(): RunningServers {
  const servers: Stoppable[] = [];
  return {
    add(server) {
      if (server) servers.unshift(server);
      return server;
    },
    stop: () => stopInTurn(servers),
  };
}

async function stopInTurn([server, ...others]: readonly Stoppable[]): Promise<void> {
  if (!server) return;
  try {
    await server.stop();
  } finally {
    await stopInTurn(others);
  }
}
