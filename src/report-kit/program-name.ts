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

const COMMAND_TO_RUN = new RegExp(`(?<=\\b[Rr]un |: )${PROGRAM_NAME}(?= [a-z])`, 'g');

/** Returns a sentence with the commands that it says to run as the user types them. */
export const typeCommandsIn = (sentence: string, program = PROGRAM_NAME): string =>
  sentence.replaceAll(COMMAND_TO_RUN, program);
