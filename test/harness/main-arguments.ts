// For tests beside the code, which start a process as the local stack does.
export { mainArguments } from '@methods/local-stack/main-arguments';
