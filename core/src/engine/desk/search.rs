//! Searching articles at the desk (S2-57).

use super::Desk;
use crate::Result;
use crate::desk::{FoundIds, Page, Paging, SearchHit, SearchQuery};

impl Desk {
    /// Articles with these words, under these filters. With words: what fits best first, then the newest; the total is exact up
    /// to 10,000. Without: the newest published first; exact up to 100,000.
    pub async fn search(&self, query: SearchQuery, paging: Paging) -> Result<Page<SearchHit>> {
        Ok(self.store().search(query, paging).await?)
    }

    /// The numbers of what is found, at most 10,000 ("select all results", S2-62).
    pub async fn search_ids(&self, query: SearchQuery) -> Result<FoundIds> {
        Ok(self.store().search_ids(query).await?)
    }
}
