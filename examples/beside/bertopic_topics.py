"""Topics of texts with BERTopic, by an adapted encoder.

python bertopic_topics.py mine.txt runs/adapt-mine/best
"""

import sys
from pathlib import Path

from bertopic import BERTopic
from hdbscan import HDBSCAN
from sentence_transformers import SentenceTransformer
from umap import UMAP


def topics(texts: list[str], encoder: str, smallest: int = 10) -> BERTopic:
    """The topics, each with its words and its share of the texts; the same at each run."""
    model = BERTopic(
        embedding_model=SentenceTransformer(encoder, device="cpu"),
        umap_model=UMAP(n_neighbors=15, n_components=5, metric="cosine", random_state=42),
        hdbscan_model=HDBSCAN(min_cluster_size=smallest, prediction_data=True),
    )
    model.fit(texts)
    return model


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text("utf-8").splitlines()
    print(topics(lines, sys.argv[2]).get_topic_info()[["Topic", "Count", "Name"]].to_string(index=False))
