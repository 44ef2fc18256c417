// The organizations that this browser is signed in to.
import { useQuery } from '@tanstack/react-query';
import { apiOf, got, pathOf } from '../api/client.ts';

export function useOrganizations() {
  const viewer = useQuery({ queryKey: ['viewer'], queryFn: () => got(apiOf(null).GET('/api/whoami')) });
  return viewer.data?.organizations ?? [];
}

export function OrganizationList() {
  const organizations = useOrganizations();
  if (organizations.length === 0) return null;
  return (
    <ul>
      {organizations.map(({ id, name }) => (
        <li key={id}>
          <a href={`${pathOf(id)}/`}>
            <bdi>{name}</bdi>
          </a>
        </li>
      ))}
    </ul>
  );
}
