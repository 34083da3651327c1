/** The name of the program in commands. */
export const PROGRAM_NAME = 'sandbox-kit';

/**
 * Returns a command as the user types it.
 *
 * @param program How the user types the name of the program, such as `npx sandbox-kit`.
 */
export const typeCommand = (command: string, program = PROGRAM_NAME): string =>
  command.startsWith(`${PROGRAM_NAME} `)
    ? `${program}${command.slice(PROGRAM_NAME.length)}`
    : command;
