//! Lists: tenants, namespaces, topics. Read from the metadata store, as whoever else may write there left it.

use super::Pages;
use super::answer::Answer;
use metadata_store::{MetadataReply, MetadataRequest};
use vocabulary::NamespaceName;
use vocabulary::name::url_decode;

impl Pages {
    pub(super) async fn tenants(&self) -> Answer {
        match self.children("/admin/policies".to_owned()).await {
            Ok(tenants) => Answer::json(&tenants),
            Err(answer) => answer,
        }
    }

    pub(super) async fn namespaces(&self, tenant: &str) -> Answer {
        // A tenant has the same grammar as a namespace; anything else is no path of ours to read.
        if let Err(error) = NamespaceName::new(tenant, "default") {
            return Answer::refused(412, &error.to_string());
        }
        match self.exists(format!("/admin/policies/{tenant}")).await {
            Ok(true) => {}
            Ok(false) => return Answer::refused(404, &format!("Tenant {tenant} does not exist")),
            Err(answer) => return answer,
        }
        match self.children(format!("/admin/policies/{tenant}")).await {
            Ok(names) => {
                let names: Vec<String> = names
                    .into_iter()
                    .map(|name| format!("{tenant}/{name}"))
                    .collect();
                Answer::json(&names)
            }
            Err(answer) => answer,
        }
    }

    /// `mode`: PERSISTENT (default), NON_PERSISTENT or ALL. No non-persistent topic is kept here.
    pub(super) async fn topics_of(&self, tenant: &str, namespace: &str, query: &str) -> Answer {
        let name = match NamespaceName::new(tenant, namespace) {
            Ok(name) => name,
            Err(error) => return Answer::refused(412, &error.to_string()),
        };
        match self.exists(format!("/admin/policies/{name}")).await {
            Ok(true) => {}
            Ok(false) => return Answer::refused(404, &format!("Namespace {name} does not exist")),
            Err(answer) => return answer,
        }
        let is_non_persistent = query
            .split('&')
            .any(|pair| pair.eq_ignore_ascii_case("mode=NON_PERSISTENT"));
        if is_non_persistent {
            return Answer::json(&[""; 0]);
        }
        match self
            .children(format!("/managed-ledgers/{name}/persistent"))
            .await
        {
            Ok(names) => {
                let topics: Vec<String> = names
                    .iter()
                    .filter_map(|local| url_decode(local))
                    .map(|local| format!("persistent://{name}/{local}"))
                    .collect();
                Answer::json(&topics)
            }
            Err(answer) => answer,
        }
    }

    async fn exists(&self, path: String) -> Result<bool, Answer> {
        match self
            .read_metadata(MetadataRequest::Get { ticket: 0, path })
            .await
        {
            Some(MetadataReply::Got {
                result: Ok(found), ..
            }) => Ok(found.is_some()),
            Some(MetadataReply::Got {
                result: Err(error), ..
            }) => Err(Answer::refused(500, &error.to_string())),
            _ => Err(no_answer()),
        }
    }

    async fn children(&self, path: String) -> Result<Vec<String>, Answer> {
        match self
            .read_metadata(MetadataRequest::Children { ticket: 0, path })
            .await
        {
            Some(MetadataReply::Children {
                result: Ok(names), ..
            }) => Ok(names),
            Some(MetadataReply::Children {
                result: Err(error), ..
            }) => Err(Answer::refused(500, &error.to_string())),
            _ => Err(no_answer()),
        }
    }
}

fn no_answer() -> Answer {
    Answer::refused(
        503,
        "the metadata store does not answer in time: is the disk stuck?",
    )
}
